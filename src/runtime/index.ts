export * from "./controller.ts";
export type * from "./status-writer.ts";
