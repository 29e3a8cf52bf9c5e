export * from "./capacity.ts";
export * from "./estimate-replicas.ts";
export * from "./estimate-sets.ts";
