export * from "./fleet.ts";
