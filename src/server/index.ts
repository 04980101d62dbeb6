/**
 * @module
 */
export { adminFindings } from './admin-findings.js'
export { loadSettings, type LoadSettingsOptions, type LoadedSettings, type SettingFlags } from './config.js'
export { defineConfig, DEFAULT_SETTINGS, type PaidonceConfig, type Settings } from './settings.js'
export { openStore, type StoreSettings } from './open-store.js'
export { parseDatabaseUrl, redactDatabaseUrl, type DatabaseTarget } from './database-url.js'
export { createLogger, SILENT_LOGGER, type Logger } from './logger.js'
export { pruneInbox } from './prune-inbox.js'
export { startServer, type RunningServer, type StartServerOptions } from './server.js'
