export * from "./clock.ts";
export * from "./errors.ts";
export * from "./json.ts";
export * from "./log.ts";
export * from "./module-url.ts";
export * from "./random.ts";
export * from "./text.ts";
