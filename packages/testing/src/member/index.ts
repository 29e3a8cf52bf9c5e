export * from "./member.ts";
export * from "./kruise-member.ts";
export { endsWithTest } from "../ends-with-test.ts";
