export * from "./interpreter.ts";
export * from "./kind-interpreter.ts";
export { TEMPLATE_GENERATION } from "./replica-status.ts";
