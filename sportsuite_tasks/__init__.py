"""The sports that come with sportsuite. They are plugins like any other and never import each other."""
