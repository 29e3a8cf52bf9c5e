export * from "./admission.ts";
export * from "./kind.ts";
export * from "./meta.ts";
