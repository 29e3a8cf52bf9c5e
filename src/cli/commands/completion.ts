/**
 * `flotilla completion`: a script that lets the Tab key complete commands, flags, types, names, namespaces and members.
 */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { scripts, SHELLS } from "../completion/scripts.ts";

export const completionCommand = defineCommand({
  name: "completion",
  summary: "print a script that lets the Tab key complete commands, flags and names",
  details:
    "Types, names, namespaces and members are those of the hub that the command line names; it is asked for them while you type, for at most a second and a half. 'kubectl flotilla …' is completed by kubectl's own completion, where kubectl_complete-flotilla stands on the PATH beside kubectl-flotilla.",
  example: [
    {
      says: "In this shell, and in every new one by the same line in ~/.bashrc.",
      run: "source <(flotilla completion bash)",
    },
    { says: "For zsh, in a folder of its fpath.", run: "flotilla completion zsh > ~/.zfunc/_flotilla" },
    { says: "For fish.", run: "flotilla completion fish > ~/.config/fish/completions/flotilla.fish" },
  ],
  args: [{ name: "SHELL", description: SHELLS.join(", "), required: true, choices: SHELLS }],
  flags: {},
  run({ args: [wanted = ""], output }) {
    const shell = SHELLS.find((name) => name === wanted);
    if (shell === undefined)
      throw new UsageError(`there is no completion for '${wanted}'; there is one for ${SHELLS.join(", ")}`);
    output.result({ shell, script: scripts[shell] }, () => scripts[shell].trimEnd());
    return Promise.resolve();
  },
});
