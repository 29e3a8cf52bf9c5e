/**
 * The chapters of the guide to OpenKruise with Karmada on other fleets than the one of `guide.test.ts`: hubs of several
 * processes, and real members. The real kubectl applies the files as written; the results are the same everywhere.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sleep, systemClock } from "@flotilla/base";
import type { CommandLine } from "../programs/command-line.ts";

export const MEMBERS = ["member1", "member2"] as const;
const seed = (file: string): string => fileURLToPath(new URL(`../seeds/${file}.yaml`, import.meta.url));
const files = (...names: string[]): string[] => names.flatMap((name) => ["-f", seed(name)]);

export type GuideCommands = Record<"hub" | (typeof MEMBERS)[number], CommandLine>;

/**
 * One test per section, in the order of the text; each continues from the previous one. `commands` are the clusters of
 * the running test, started before the first call.
 */
export function testGuide(
  commands: () => GuideCommands,
  {
    hasComponents = true,
  }: { /** The hub shows pods that stand for Karmada's components. */ hasComponents?: boolean } = {},
): void {
  const kubectl = async (cluster: keyof GuideCommands, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await commands()[cluster].run(args);
    expect(code, `kubectl ${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  };
  /** Polls until the output is the expected one. */
  const until = async (want: string, cluster: keyof GuideCommands, ...args: string[]): Promise<void> => {
    let seen = "";
    for (let attempt = 0; attempt < 150 && seen !== want; attempt++) {
      seen = (await kubectl(cluster, ...args)).trim();
      if (seen !== want) await sleep(systemClock, 200);
    }
    expect(seen).toBe(want);
  };

  test("Verification: clusters and OpenKruise's CRDs exist", async () => {
    expect(await kubectl("hub", "get", "clusters")).toMatch(/^NAME .*\nmember1 .*Push +True .*\nmember2 .*Push +True /);
    expect(await kubectl("member1", "get", "crd")).toContain("uniteddeployments.apps.kruise.io");
  });

  test.runIf(hasComponents)("Verification: Karmada's components have pods and logs", async () => {
    // Its process is ready before the API server has read that it renews its Lease.
    await expect
      .poll(() => kubectl("hub", "get", "pods", "-n", "karmada-system"))
      .toMatch(/^karmada-controller-manager-\S+ +1\/1 +Running /m);
    expect(await kubectl("hub", "logs", "-n", "karmada-system", "deployment/karmada-webhook")).toContain(
      "karmada-webhook of hub runs inside Flotilla",
    );
  });

  test("Apply the Resources: interpreters, four kinds and their policies apply as written, and shorthand causes warnings", async () => {
    const interpreters = await commands().hub.run([
      "apply",
      ...files(
        "interpreters/guide-cloneset",
        "interpreters/guide-statefulset",
        "interpreters/guide-sidecarset",
        "interpreters/guide-uniteddeployment",
      ),
    ]);
    await kubectl(
      "hub",
      "apply",
      ...files(
        "workloads/guide-sample-cloneset",
        "workloads/guide-sample-advancedstatefulset",
        "workloads/guide-sample-sidecarset",
        "workloads/guide-sample-uniteddeployment",
      ),
    );
    const policies = await commands().hub.run([
      "apply",
      ...files(
        "policies/guide-sample-cloneset-propagation",
        "policies/guide-advancedstatefulset-propagation",
        "policies/guide-sidecarset-propagation",
        "policies/guide-uniteddeployment-propagation",
      ),
    ]);

    expect([interpreters.code, policies.code]).toEqual([0, 0]);
    expect(interpreters.stderr).toContain("Warning: spec.customizations.replicas is shorthand");
    expect(policies.stderr).toContain("the canonical form is a ClusterPropagationPolicy");
  });

  test("Verify the Status: the hub shows the fleet and every member its share", async () => {
    const ready = ["-o", "jsonpath={.status.readyReplicas}"];
    await until("4", "hub", "get", "cloneset", "sample-cloneset", ...ready);
    await until("4", "hub", "get", "statefulsets.apps.kruise.io", "sample-advancedstatefulset", ...ready);
    await until("8", "hub", "get", "uniteddeployment", "sample-uniteddeployment", ...ready);
    for (const member of MEMBERS)
      await until(
        "8",
        member,
        "get",
        "pods",
        "-n",
        "default",
        "--field-selector=status.phase=Running",
        "-o",
        "go-template={{len .items}}",
      );

    const all = await kubectl("hub", "get", "cloneset,statefulset,sidecarset,uniteddeployment", "-A");
    expect(all).toMatch(/cloneset.apps.kruise.io\/sample-cloneset +2 +4 +4 /);
    expect(all).toMatch(/sidecarset.apps.kruise.io\/sample-sidecarset /);
    expect(all).toMatch(/uniteddeployment.apps.kruise.io\/sample-uniteddeployment +4 +8 /);
    expect(await kubectl("member2", "get", "all", "-n", "default")).toContain("pod/sample-advancedstatefulset-1");
  });

  test("Testing & Verification: describe shows a policy with its matched resources", async () => {
    await until(
      "1",
      "hub",
      "get",
      "propagationpolicy",
      "sample-cloneset-propagation",
      "-n",
      "default",
      "-o",
      "jsonpath={.status.applied}",
    );

    expect(await kubectl("hub", "get", "propagationpolicy", "-n", "default")).toMatch(
      /sidecarset-propagation .*\n.*uniteddeployment-propagation /,
    );
    expect(
      await kubectl("hub", "describe", "propagationpolicy", "sample-cloneset-propagation", "-n", "default"),
    ).toMatch(/Matched: +1\n/);
  });

  test("Best practices: the recommended workloads apply without selectors, with warnings about the defaulted ones", async () => {
    const { code, stderr } = await commands().hub.run([
      "apply",
      ...files(
        "workloads/guide-recommended-cloneset",
        "workloads/guide-recommended-statefulset",
        "workloads/guide-recommended-sidecarset",
        "workloads/guide-recommended-uniteddeployment",
      ),
    ]);

    expect(code, stderr).toBe(0);
    expect(stderr).toContain("Warning: spec.selector is missing");
    expect(stderr).toContain('"RollingUpdate" was taken for "ReCreate"');
  });

  test("applying the files again changes no spec", async () => {
    // UnitedDeployment is excluded: as with OpenKruise's webhook, empty fields that it once defaulted are removed when
    // a file without them is applied.
    const all = files(
      ...["cloneset", "statefulset", "sidecarset"].flatMap((kind) => [
        `interpreters/guide-${kind}`,
        `workloads/guide-recommended-${kind}`,
      ]),
      "workloads/guide-sample-sidecarset",
      "policies/guide-sidecarset-propagation",
    );
    const generations = (): Promise<string> =>
      kubectl(
        "hub",
        "get",
        ...all,
        "-o",
        "jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation}{'\\n'}{end}",
      );
    const before = await generations();

    await kubectl("hub", "apply", ...all);

    expect(before.trim().split("\n")).toHaveLength(8);
    expect(await generations()).toBe(before);
  });

  test("Debugging Techniques: the commands succeed", async () => {
    const names = async (...args: string[]): Promise<number> =>
      (await kubectl("hub", "get", ...args, "-o", "name")).trim().split("\n").filter(Boolean).length;
    expect(await names("resourceinterpretercustomization")).toBe(4);
    expect(await names("propagationpolicy")).toBe(4);
    expect(await names("overridepolicy")).toBe(0);
    expect(await names("resourcebinding")).toBe(3);
    expect(await names("clusterresourcebinding")).toBe(1);
  });
}
