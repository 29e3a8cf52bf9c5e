/**
 * Records the answers of a real Karmada to the steps of `karmadactl-steps.ts`. Run it manually when steps change:
 *
 *   node test/e2e/karmadactl-record.ts KARMADACTL HUB MEMBER1 JOINING
 *
 * with the kubeconfigs of a Karmada 1.18 whose members are those of a `flotilla up --members 2` (member1, member2), of
 * its member1, and of a cluster that has not joined.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runStep, titleOf } from "./karmadactl-run.ts";
import type { Answer } from "./karmadactl-run.ts";
import { CHAPTERS } from "./karmadactl-steps.ts";

const [
  karmadactl = "",
  hub = "",
  member1 = "",
  joining = "",
  to = fileURLToPath(new URL("./testdata/karmadactl/karmada.json", import.meta.url)),
] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "karmadactl-"));
const recorded: Record<string, (Answer & { command: string })[]> = {};
try {
  for (const { name, steps } of CHAPTERS) {
    const answers: (Answer & { command: string })[] = [];
    for (const step of steps)
      answers.push({
        command: titleOf(step),
        ...(await runStep({ karmadactl, home, kubeconfigs: { hub, member1, joining } }, step)),
      });
    recorded[name] = answers;
    process.stdout.write(`${name}: ${answers.length}\n`);
  }
} finally {
  writeFileSync(to, `${JSON.stringify(recorded, undefined, 1)}\n`);
  rmSync(home, { recursive: true, force: true });
}
