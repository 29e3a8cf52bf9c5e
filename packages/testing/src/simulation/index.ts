export * from "./member.ts";
