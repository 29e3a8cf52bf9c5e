export type * from "./agent-options.ts";
export type * from "./command.ts";
export * from "./commands.ts";
export * from "./data-directory.ts";
export type * from "./fleet.ts";
export * from "./help.ts";
export * from "./output.ts";
export * from "./parse.ts";
