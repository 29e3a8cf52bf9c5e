/**
 * `flotilla completion`: prints a shell script that completes commands, flags, types, names, namespaces and members.
 */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { scripts, SHELLS } from "../completion/scripts.ts";

export const completionCommand = defineCommand({
  name: "completion",
  summary: "print a shell completion script for commands, flags and names",
  details:
    "Types, names, namespaces and members come from the hub that the command line names; it is queried " +
    "while you type, for at most a second and a half. 'kubectl flotilla …' is completed by kubectl's own " +
    "completion if kubectl_complete-flotilla is on the PATH beside kubectl-flotilla.",
  example: [
    {
      says: "In this shell; add the line to ~/.bashrc for new shells.",
      run: "source <(flotilla completion bash)",
    },
    { says: "For zsh, in a folder of its fpath.", run: "flotilla completion zsh > ~/.zfunc/_flotilla" },
    { says: "For fish.", run: "flotilla completion fish > ~/.config/fish/completions/flotilla.fish" },
    {
      says: "For PowerShell; add the line to $PROFILE.",
      run: "flotilla completion powershell | Out-String | Invoke-Expression",
    },
  ],
  args: [{ name: "SHELL", description: SHELLS.join(", "), required: true, choices: SHELLS }],
  flags: {},
  hasOneFormat: true,
  run({ args: [wanted = ""], output }) {
    const shell = SHELLS.find((name) => name === wanted);
    if (shell === undefined)
      throw new UsageError(`no completion for shell '${wanted}'; available: ${SHELLS.join(", ")}`);
    output.result({ shell, script: scripts[shell] }, () => scripts[shell].trimEnd());
    return Promise.resolve();
  },
});
