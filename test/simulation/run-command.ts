/** Runs a command as a user would, with a fleet's client instead of a connection. */
import type { Clock } from "@flotilla/base";
import { commands, createOutput, parseCommandLine } from "@flotilla/cli";
import type { Command, CommandContext } from "@flotilla/cli";
import type { Client } from "@flotilla/client";

interface CommandHub {
  client: Client;
  clock: Clock;
  /** Of the kubeconfig's context. */
  namespace?: string;
  /** The columns of the terminal; without one if unset. */
  width?: number;
  edit?(text: string): string;
  progress?(text: string): void;
}

export interface CommandResult {
  code: number;
  text: string;
}

export async function runCommand(hub: CommandHub, name: string, ...argv: readonly string[]): Promise<CommandResult> {
  const command = await commands.find((entry) => entry.name === name)?.load();
  if (!command) throw new Error(`no command ${name}`);
  return runLoaded(hub, command, ...argv);
}

export async function runLoaded(hub: CommandHub, command: Command, ...argv: readonly string[]): Promise<CommandResult> {
  const { args, flags, format } = parseCommandLine(command, [...argv, "--kubeconfig", "hub.kubeconfig"]);
  let text = "";
  const output = createOutput({
    format,
    width: hub.width,
    write: (part) => (text += part),
    warn: (part) => (text += part),
    showProgress: (step) => hub.progress?.(step),
  });
  const context = {
    args,
    flags,
    output,
    signal: new AbortController().signal,
    clock: hub.clock,
    connect: () =>
      Promise.resolve({
        client: hub.client,
        server: "https://hub.example.com",
        namespace: hub.namespace,
        close: () => Promise.resolve(),
      }),
    environment: {},
    readInput: () => Promise.resolve(""),
    terminal: {
      canAsk: false,
      ask: () => Promise.resolve(""),
      edit: (shown: string) => Promise.resolve(hub.edit?.(shown) ?? shown),
    },
  };
  const code = await command.run(context as unknown as CommandContext<never>);
  return { code: code ?? 0, text };
}
