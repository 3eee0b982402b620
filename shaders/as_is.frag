#version 430 core
// For pictures whose values are display colours.
vec3 displayed(vec3 coded) { return coded; }
