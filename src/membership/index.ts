export * from "./controller.ts";
export * from "./join.ts";
