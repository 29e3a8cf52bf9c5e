export * from "./member.ts";
export * from "./kruise-member.ts";
