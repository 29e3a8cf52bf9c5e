export * from "./kind-interpreter.ts";
