"""Characters: skeleton tables, gains and the articulation configurations built from them."""
