export * from "./plan-placement.ts";
