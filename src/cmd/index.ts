export * from "./hub.ts";
