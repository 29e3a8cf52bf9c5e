/** Builders and harnesses are imported by file: `@flotilla/testing/builders.ts`. */
export * from "./builders.ts";
