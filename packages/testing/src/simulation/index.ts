export * from "./member.ts";
export { endsWithTest } from "../ends-with-test.ts";
