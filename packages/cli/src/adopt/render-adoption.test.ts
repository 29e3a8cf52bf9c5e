import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import type { MemberForecast, Forecast, Resource } from "./forecast.ts";
import { adviceFor, describeRefusal, describeRefusals, renderAdopted, renderForecast } from "./render-adoption.ts";

const template = makeDeployment("shop/web").build();
const resource: Resource = {
  kind: dynamicKind({ group: "apps", version: "v1", kind: "Deployment", plural: "deployments", scope: "Namespaced" }),
  copies: [{ cluster: "oslo", object: template }],
  template,
  replicas: new Map([
    ["oslo", 3],
    ["rome", 1],
  ]),
  isKnown: false,
  policy: { kind: "PropagationPolicy", metadata: { namespace: "shop", name: "web-1" } },
};
const quiet: MemberForecast = { cluster: "oslo", replicas: 3, harmless: [], refused: [] };
const paced: MemberForecast = {
  cluster: "rome",
  replicas: 1,
  harmless: [{ steps: ["spec", "updateStrategy", "maxUnavailable"], before: "20%", after: 1 }],
  refused: [],
};
const loud: MemberForecast = {
  cluster: "rome",
  replicas: 1,
  harmless: [],
  refused: [{ steps: ["spec", "template", "spec", "containers", "0", "image"], before: "a", after: "b" }],
};
const forecast = (...members: MemberForecast[]): Forecast => ({ resource, members, problems: [] });

test("the forecast lists the changes per member", () => {
  expect(renderForecast({ forecasts: [forecast(quiet, paced)], notes: ["mind the gap"] })).toBe(
    [
      "Deployment shop/web: 4 replicas, with PropagationPolicy shop/web-1",
      "    oslo (3): nothing changes",
      "    rome (1): no pod changes",
      "        spec.updateStrategy.maxUnavailable: 20% → 1",
      "",
      "Note:",
      "  mind the gap",
    ].join("\n"),
  );
});

test("changes to running workloads are marked, and summarized in one sentence", () => {
  expect(renderForecast({ forecasts: [forecast(loud)], notes: [] })).toContain(
    "  ! rome (1): running workloads would change\n      ! spec.template.spec.containers[0].image: a → b",
  );
  expect(describeRefusal(forecast(quiet, loud))).toBe(
    "adopting Deployment shop/web would change running workloads: on rome spec.template.spec.containers[0].image: a → b",
  );
});

test("an error names only the first few objects", () => {
  expect(describeRefusals(Array.from({ length: 5 }, () => forecast(loud)))).toMatch(
    /^(adopting Deployment shop\/web would [^;]+; ){3}and 2 more objects$/,
  );
});

test("Secret values are not shown", () => {
  const secret: Forecast = {
    resource: { ...resource, template: { apiVersion: "v1", kind: "Secret", metadata: { name: "password" } } },
    members: [{ cluster: "oslo", harmless: [], refused: [{ steps: ["data", "word"], before: "b25l", after: "dHdv" }] }],
    problems: [],
  };

  expect(renderForecast({ forecasts: [secret], notes: [] }) + describeRefusal(secret)).not.toMatch(/b25l|dHdv/);
});

test("the advice matches the problem", () => {
  expect(adviceFor([forecast(loud)])).toContain("--overrides");
  expect(
    adviceFor([forecast({ ...loud, refused: [{ steps: ["spec", "reserveOrdinals"], after: ["0-1"] }] })]),
  ).toContain("--scope cluster");
  expect(adviceFor([forecast({ ...quiet, problem: "it does not exist and would be created" })])).toContain("--force");
  expect(adviceFor([{ ...forecast(quiet), problems: ["another policy has it"] }])).toBe("");
});

test("the result reports which fields changed, and whether a pod did", () => {
  expect(
    renderAdopted([
      {
        resource,
        members: [
          { cluster: "oslo", replicas: 3, isUnchanged: true, fields: [] },
          {
            cluster: "paris",
            isUnchanged: true,
            fields: [{ path: "spec.updateStrategy.maxUnavailable", before: "20%", after: 1 }],
          },
          { cluster: "rome", isUnchanged: false, fields: [] },
        ],
      },
    ]),
  ).toBe(
    "Deployment shop/web is adopted\n" +
      "  oslo (3): unchanged\n" +
      "  paris: no pod changed\n" +
      "      spec.updateStrategy.maxUnavailable: 20% → 1\n" +
      "  rome: changed; run 'flotilla why' for details",
  );
});
