export type * from "./request.ts";
