#version 430 core
// Returns the colour unchanged, for pictures whose values are display colours.
vec3 displayed(vec3 coded) { return coded; }
