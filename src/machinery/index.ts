export * from "./schema.ts";
export * from "./status.ts";
