export * from "./delivery.ts";
