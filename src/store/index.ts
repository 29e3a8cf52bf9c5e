export * from "./engine.ts";
export * from "./errors.ts";
export type * from "./cache.ts";
export { createCache, type CacheOptions } from "./create-cache.ts";
export { createMemoryEngine, type MemoryEngineOptions } from "./memory-engine.ts";
export {
  addFiles,
  inspectSnapshot,
  readFiles,
  restoreSnapshot,
  type SnapshotFile,
  type SnapshotInfo,
} from "./sqlite-restore.ts";
export { writeSnapshot } from "./sqlite-snapshot.ts";
export { openSqliteEngine, type SqliteEngineOptions } from "./sqlite-engine.ts";
