'use strict';
// Stands in for the package `canvas` where chartjs-node-canvas asks for it.
// @napi-rs/canvas carries its binaries inside registry packages, so charts need no compiler, no system
// library and no download; its own node-canvas layer has the calls that PNG charts use.
module.exports = require('@napi-rs/canvas/node-canvas');
