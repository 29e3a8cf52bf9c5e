export * from "./create-ocm.ts";
