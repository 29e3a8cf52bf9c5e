/** `flotilla snapshot save|restore`: one file that holds a whole fleet, and the way back. */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";

export const snapshotCommand = defineCommand({
  name: "snapshot",
  summary: "save the fleet's data to one file, also while it runs, or restore it",
  example: ["flotilla snapshot save fleet.snapshot", "flotilla snapshot restore fleet.snapshot --data ./fleet-2", "flotilla up --data ./fleet-2"],
  args: [
    { name: "ACTION", description: "save or restore", required: true },
    { name: "FILE", description: "the snapshot; it holds keys and Secrets, so keep it as safe as the data directory", required: true },
  ],
  flags: { data: { type: "string", value: "DIR", description: "data directory of the fleet (default ~/.flotilla); restore needs one without a store" } },
  async run({ args: [action = "", file = ""], flags, output, environment, snapshots }) {
    const data = flags.data ?? defaultDataDirectory(environment);
    if (action !== "save" && action !== "restore") throw new UsageError(`the action is save or restore, not '${action}'`);
    output.progress(action === "save" ? `saving ${data} to ${file}` : `restoring ${file} into ${data}`);
    const info = await snapshots[action](data, file);
    output.result({ action, data, file, ...info }, () =>
      action === "save"
        ? `saved ${info.objects} objects at revision ${info.revision} to ${file}`
        : `restored ${info.objects} objects of revision ${info.revision} into ${data}; start it with: flotilla up --data ${data}`,
    );
  },
});
