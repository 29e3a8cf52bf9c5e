import { expect, test } from "vitest";
import { commandHint, kubectlRolloutHint } from "./command-hint.ts";
import { commands } from "./commands.ts";

/** The commands of the tools that users of Flotilla come from. */
const KUBECTL =
  "annotate api-resources api-versions apply attach auth autoscale certificate cluster-info completion config " +
  "cordon cp create debug delete describe diff drain edit events exec explain expose get kustomize label logs " +
  "options patch plugin port-forward proxy replace rollout run scale set taint top uncordon version wait";
const KARMADACTL =
  "addons annotate api-resources api-versions apply attach completion cordon create deinit delete describe " +
  "edit exec explain get init interpret join label logs options patch promote register taint token top " +
  "uncordon unjoin unregister version";
const CLUSTERADM =
  "accept addon clean clusterset completion create delete get init install join proxy uninstall unjoin upgrade version";

test("a command that only kubectl has is answered with what to use instead", () => {
  expect(commandHint("restart")).toMatch(/^; use 'flotilla rollout' .* 'flotilla wait' to wait for one$/);
  expect(commandHint("scale")).toBe("; use 'flotilla kubectl scale'");
  expect(commandHint("promote")).toBe("; use 'flotilla adopt' to bring an object of a member under hub management");
  expect(["frobnicate", "toString", ""].map(commandHint)).toEqual(["", "", ""]);
});

const names = new Set(commands.map(({ name }) => name));

test.each(Object.entries({ kubectl: KUBECTL, karmadactl: KARMADACTL, clusteradm: CLUSTERADM }))(
  "every command of %s is a command here, or is answered with what to use instead",
  (_, list) => {
    const unanswered = list.split(" ").filter((word) => !names.has(word) && commandHint(word) === "");

    expect(unanswered).toEqual([]);
  },
);

test("hints name only commands that exist", () => {
  const words = [KUBECTL, KARMADACTL, CLUSTERADM].flatMap((list) => list.split(" "));

  const named = words.flatMap((word) =>
    [...commandHint(word).matchAll(/'flotilla (\w+)/g)].map(([, command]) => command ?? ""),
  );

  expect(new Set(named.filter((name) => name !== "help" && !names.has(name)))).toEqual(new Set());
});

test("kubectl's rollout of OpenKruise's workloads is answered with what to use instead", () => {
  expect(kubectlRolloutHint(["rollout", "undo", "cloneset/web", "-n", "shop"])).toMatch(
    /'flotilla rollout undo TYPE\/NAME'/,
  );
  expect(kubectlRolloutHint(["-n", "shop", "rollout", "status", "cloneset", "web"])).toMatch(
    /'flotilla wait TYPE\/NAME'/,
  );
  expect(kubectlRolloutHint(["rollout", "status", "statefulsets.apps.kruise.io/web"])).toMatch(
    /'flotilla wait TYPE\/NAME'/,
  );
  expect(kubectlRolloutHint(["rollout", "status", "deployment/web"])).toBeUndefined();
  expect(kubectlRolloutHint(["get", "clonesets"])).toBeUndefined();
});
