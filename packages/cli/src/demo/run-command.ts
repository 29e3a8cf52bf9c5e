/** Runs one of our own commands in this process, as if typed, and captures its output. */
import { FlotillaError } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import type { CommandContext } from "../command.ts";
import { commands } from "../commands.ts";
import type { Output } from "../output.ts";
import { parseCommandLine } from "../parse.ts";

export interface CommandResult {
  value: Json;
  text: string;
  code: number;
}

export async function runCommand(
  context: CommandContext<Record<string, never>>,
  [name = "", ...line]: readonly string[],
): Promise<CommandResult> {
  const command = await commands.find((entry) => entry.name === name)?.load();
  if (!command) throw new FlotillaError("Demo", `unknown command '${name}'`);
  const { args, flags } = parseCommandLine(command, line);
  const printed: string[] = [];
  let value: Json = null;
  const output: Output = {
    ...context.output,
    format: "table",
    say: (text) => void printed.push(text),
    result(data, text) {
      value = data;
      printed.push(text());
    },
    progress: () => {},
  };
  const code = (await command.run({ ...context, args, flags: flags as never, output })) ?? 0;
  return { value, text: printed.join("\n"), code };
}
