export * from "./engine.ts";
export * from "./errors.ts";
export type * from "./cache.ts";
export { createCache } from "./create-cache.ts";
export { createMemoryEngine } from "./memory-engine.ts";
export { addFiles, inspectSnapshot, readFiles, restoreSnapshot, type SnapshotFile } from "./sqlite-restore.ts";
export { writeSnapshot } from "./sqlite-snapshot.ts";
export { openSqliteEngine } from "./sqlite-engine.ts";
