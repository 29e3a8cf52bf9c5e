export * from "./admissions.ts";
export * from "./controller.ts";
export * from "./join.ts";
