export type * from "./request.ts";
export * from "./http/index.ts";
