/** Help texts, made from what the commands declare. Pure. */
import type { Argument, Command, Flag } from "./command.ts";
import { sharedFlags } from "./parse.ts";

export function renderOverview(commands: readonly { name: string; summary: string }[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "Flotilla runs OpenKruise workloads, and any other Kubernetes workload, across many clusters.",
    "",
    "Usage: flotilla COMMAND [flags]",
    "",
    "Commands:",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`),
    "",
    "'flotilla COMMAND --help' tells more. A first look: flotilla demo",
  ].join("\n");
}

export function renderHelp({ name, summary, example, args, flags }: Command): string {
  const usage = ["flotilla", name, ...args.map(argumentText), "[flags]"].join(" ");
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    "",
    `Usage: ${usage}`,
    ...section("Arguments", args.map((argument) => [argument.name, argument.description])),
    ...section("Flags", Object.entries({ ...flags, ...sharedFlags }).map(([flag, definition]) => [flagText(flag, definition), describe(definition)])),
    ...(example.length > 0 ? ["", "Examples:", ...example.map((line) => `  ${line}`)] : []),
  ].join("\n");
}

function argumentText({ name, required, repeated }: Argument): string {
  const text = repeated ? `${name}...` : name;
  return required ? text : `[${text}]`;
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([left]) => left.length));
  return ["", `${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`)];
}

function flagText(name: string, { short, type, value, choices }: Flag): string {
  const operand = type === "boolean" ? "" : ` ${value ?? choices?.join("|") ?? (type === "string" ? "TEXT" : "N")}`;
  return `${short ? `-${short}, ` : ""}--${name}${operand}`;
}

function describe({ description, default: fallback }: Flag): string {
  return fallback === undefined ? description : `${description} (default ${fallback})`;
}
