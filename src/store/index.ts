export * from "./engine.ts";
export * from "./errors.ts";
export type * from "./cache.ts";
