export * from "./create-propagation.ts";
export * from "./pipeline.ts";
