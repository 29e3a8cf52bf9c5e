import { expect, test } from "vitest";
import type { CommandContext } from "../command.ts";
import { kubectlCommand, needsHub } from "./kubectl.ts";

test("without a kubeconfig the missing file is explained, and kubectl does not run", async () => {
  const context = { args: ["get", "pods"], environment: { HOME: "/nowhere", KUBECTL: "/nowhere/kubectl" } };

  await expect(kubectlCommand.run(context as unknown as CommandContext<never>)).rejects.toThrow(
    "no kubeconfig at /nowhere/.flotilla/hub.kubeconfig; start a fleet with 'flotilla up', or specify one with --kubeconfig FILE",
  );
});

test("a KUBECONFIG that names only missing files is explained, and kubectl does not run", async () => {
  const environment = { HOME: "/nowhere", KUBECTL: "/nowhere/kubectl", KUBECONFIG: "/nowhere/a:/nowhere/b" };

  await expect(
    kubectlCommand.run({ args: ["get", "pods"], environment } as unknown as CommandContext<never>),
  ).rejects.toThrow(
    "no kubeconfig at /nowhere/a or /nowhere/b; start a fleet with 'flotilla up', or specify one with --kubeconfig FILE",
  );
});

const cases: [args: string[], needs: boolean][] = [
  [["get", "pods"], true],
  [["apply", "-f", "shop.yaml"], true],
  [["--kubeconfig", "mine", "get", "pods"], false],
  [["get", "pods", "--kubeconfig=mine"], false],
  [["-s", "http://localhost:1", "get", "pods"], false],
  [["version", "--client"], false],
  [["config", "view"], false],
  [["get", "--help"], false],
  [[], false],
];
for (const [args, needs] of cases) {
  test(`kubectl ${args.join(" ")} ${needs ? "needs" : "does not need"} a kubeconfig of the hub`, () => {
    expect(needsHub(args)).toBe(needs);
  });
}
