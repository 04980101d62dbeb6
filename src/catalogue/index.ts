/**
 * The catalogue of networks.
 *
 * @module
 */
export { findProfile, lookUpProfile, profileNames, setupText } from './catalogue.js'
export { validateProfile } from './validate-profile.js'
