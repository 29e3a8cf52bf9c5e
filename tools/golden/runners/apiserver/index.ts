/** `apiserver-*.jsonl`: exchanges with a real kube-apiserver, replayed on Flotilla's. */
import { randomInt } from "node:crypto";
import type { CaseRunner, GoldenCase } from "../../golden.ts";
import { playScenario } from "./player.ts";
import type { Scenario } from "./scenario.ts";
import { startPlayServer } from "./server.ts";

/** Scenarios mostly wait, so several run in parallel. */
const CONCURRENCY = 8;
const LETTERS = "ghijklmnopqrstuvwxyz0123456789";

export async function createApiServerRunner(servers: number): Promise<CaseRunner> {
  const server = await startPlayServer(servers);
  const used = new Set<string>();
  // Six characters, like the placeholder; random, because the store may contain namespaces of an earlier file.
  const newNamespace = (): string => {
    for (;;) {
      const name = `q${Array.from({ length: 5 }, () => LETTERS[randomInt(LETTERS.length)]).join("")}`;
      if (!used.has(name)) {
        used.add(name);
        return name;
      }
    }
  };
  return {
    concurrency: CONCURRENCY,
    isSerial: (line) => asScenario(line).serial === true,
    check: (line) => playScenario(server, asScenario(line), newNamespace()),
    close: () => server.close(),
  };
}

const asScenario = (line: GoldenCase): Scenario => line as unknown as Scenario;
