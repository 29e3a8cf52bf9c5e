/** The fields that a RolloutStrategy has, and that a FleetRollout keeps a copy of. */
import { s } from "@flotilla/apimachinery";

const NAME = { minLength: 1, maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" } as const;
const ONE_GATE = {
  rule:
    "(has(self.approval) ? 1 : 0) + (has(self.soak) ? 1 : 0) + (has(self.window) ? 1 : 0) + " +
    "(has(self.metric) ? 1 : 0) + (has(self.webhook) ? 1 : 0) + (has(self.job) ? 1 : 0) + (has(self.images) " +
    "? 1 : 0) == 1",
  message: "a gate has exactly one of approval, soak, window, metric, webhook, job and images",
};

const secretKey = s.object({
  name: s.string("The name of a Secret in this namespace. The writer of the gate must be permitted to read it.", {
    minLength: 1,
    maxLength: 253,
  }),
  key: s.string("The key in the Secret that has the token.", { default: "token", maxLength: 253 }),
});
const bearerToken = s.optional({
  ...secretKey,
  schema: { ...secretKey.schema, description: "The Secret with the token that is sent as `Authorization: Bearer`." },
});
const URL = { pattern: "^https?://[^\\s]+$", maxLength: 2048 } as const;
const INTERVAL = "How often it is asked while the gate is closed. At least 5s.";

const gate = s.object(
  {
    approval: s.optional(
      s.object(
        "A person approves the wave, with `flotilla rollout approve` or in `spec.approvals` of the FleetRollout.",
        {
          message: s.optional(s.string("What to check before approving.", { maxLength: 1024 })),
        },
      ),
    ),
    soak: s.optional(
      s.duration(
        "How long the previous state stays healthy before the gate opens: after a wave, the wave; before one, the waves so far.",
      ),
    ),
    window: s.optional(
      s.object("A weekly window in which the gate is open.", {
        days: s.optional(
          s.array(
            "The days of the week; every day if unset.",
            s.string("A day.", { enum: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] }),
            { maxItems: 7 },
          ),
        ),
        start: s.string("When the window opens, such as `09:00`.", { pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" }),
        end: s.string("When it closes. A window whose end is not after its start closes on the next day.", {
          pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
        }),
        timeZone: s.string("The time zone, such as `Europe/Oslo`.", { default: "UTC", maxLength: 64 }),
      }),
    ),
    metric: s.optional(
      s.object("A PromQL query whose result must be within the limits.", {
        server: s.string("The address of a Prometheus, such as `https://prometheus.example.com`.", URL),
        query: s.string(
          "An instant query. `{{namespace}}`, `{{name}}`, `{{wave}}` and `{{revision}}` are replaced; a name in a query is quoted as PromQL needs it.",
          { minLength: 1, maxLength: 4096 },
        ),
        max: s.optional(
          s.string("The largest value that opens the gate, as a decimal number.", {
            pattern: "^-?[0-9]+(\\.[0-9]+)?$",
            maxLength: 32,
          }),
        ),
        min: s.optional(
          s.string("The smallest value that opens the gate, as a decimal number.", {
            pattern: "^-?[0-9]+(\\.[0-9]+)?$",
            maxLength: 32,
          }),
        ),
        interval: s.duration(INTERVAL, { default: "30s" }),
        failureLimit: s.integer("After so many results outside the limits, or answers that are none, the gate fails.", {
          default: 3,
          minimum: 1,
          maximum: 1000,
        }),
        bearerToken,
      }),
    ),
    webhook: s.optional(
      s.object("An HTTP service that answers whether the gate is open.", {
        url: s.string(
          'Gets a POST with the release as JSON, and answers `{"open": true}`, `{"open": false}` or `{"failed": true}`, each with an optional `message`.',
          URL,
        ),
        interval: s.duration(INTERVAL, { default: "30s" }),
        failureLimit: s.integer("After so many answers that are none, the gate fails.", {
          default: 3,
          minimum: 1,
          maximum: 1000,
        }),
        bearerToken,
      }),
    ),
    job: s.optional(
      s.object("A Job that must complete on a member.", {
        template: s.json("The spec of the Job (batch/v1)."),
        cluster: s.optional(
          s.string("The member that runs it; the first member of the wave if unset.", { maxLength: 253 }),
        ),
      }),
    ),
    images: s.optional(
      s.object(
        "The images of the release are pulled on the members of the wave, by an ImagePullJob of OpenKruise on each.",
        {
          parallelism: s.optional(s.intOrString("How many nodes of a member pull at the same time; 1 by default.")),
        },
      ),
    ),
  },
  { rules: [ONE_GATE] },
);

const wave = s.object(
  {
    name: s.string("The name of the wave. Unique.", NAME),
    clusters: s.optional(
      s.object("The members that the wave updates; all if unset.", {
        matchLabels: s.optional(
          s.map("Labels of the Cluster that must have these values.", s.string("A label value.")),
        ),
        matchExpressions: s.optional(
          s.array(
            "Requirements on the labels of the Cluster that must all be met.",
            s.object({
              key: s.string("The label key that the requirement applies to."),
              operator: s.string("How the label relates to the values.", {
                enum: ["In", "NotIn", "Exists", "DoesNotExist"],
              }),
              values: s.optional(
                s.array(
                  "Required for In and NotIn, and empty for Exists and DoesNotExist.",
                  s.string("A label value."),
                ),
              ),
            }),
            { maxItems: 20 },
          ),
        ),
        names: s.optional(
          s.array("Members by name.", s.string("The name of a Cluster.", { maxLength: 253 }), { maxItems: 1000 }),
        ),
        count: s.optional(
          s.integer("Of these members, so many that no earlier wave has selected, in the order of the release.", {
            minimum: 1,
          }),
        ),
      }),
    ),
    pods: s.optional(
      s.intOrString(
        "How many pods of the whole workload are updated when the wave is complete, earlier waves included. All pods of the wave's members if unset.",
      ),
    ),
    weight: s.optional(
      s.integer(
        "The share of the wave among the weights of all waves: 1, 2 and 7 update 10 %, then 30 %, then all pods.",
        { minimum: 1, maximum: 1000 },
      ),
    ),
    before: s.optional(s.array("What must be open before the wave starts.", gate, { maxItems: 16 })),
    after: s.optional(
      s.array("What must be open after the wave is complete and healthy, before the next one.", gate, { maxItems: 16 }),
    ),
  },
  { rules: [{ rule: "!(has(self.pods) && has(self.weight))", message: "a wave has pods or weight, not both" }] },
);

export const strategyFields = {
  waves: s.array(
    "The waves, in order. If the last one does not reach every pod, a wave `rest` without gates follows it.",
    wave,
    {
      minItems: 1,
      maxItems: 32,
      rules: [
        {
          rule: "self.all(w, self.exists_one(other, other.name == w.name))",
          message: "the names of waves must be unique",
        },
        {
          rule: "self.all(w, has(w.weight)) || !self.exists(w, has(w.weight))",
          message: "either every wave has a weight or none has",
        },
      ],
    },
  ),
  order: s.string(
    "How a wave that does not update all pods of its members divides them: `Spread` in proportion to the members' sizes, `Ordered` one member after another.",
    { enum: ["Spread", "Ordered"], default: "Spread" },
  ),
  unit: s.string(
    "`Pods` updates part of a member's pods where the kind has a partition (CloneSet, StatefulSet), `Clusters` " +
      "only whole members. Kinds without a partition always go member by member.",
    { enum: ["Pods", "Clusters"], default: "Pods" },
  ),
  maxUnavailable: s.optional(
    s.intOrString(
      "How many pods of the workload the release may make unavailable at once, over all members; a percentage is " +
        "of all its pods, rounded up. Pods of " +
        "members that cannot be observed count as unavailable. If unset, the template's own budget is " +
        "divided.",
    ),
  ),
  failure: s.object(
    "When a release has failed, and what happens then.",
    {
      action: s.string(
        "`Pause` keeps everything as it is. `Rollback` returns the waves so far to the previous revision, the last one first, within the budget.",
        { enum: ["Pause", "Rollback"], default: "Pause" },
      ),
      progressDeadline: s.duration("A wave has failed when one of its members makes no progress for so long.", {
        default: "10m",
      }),
      maxUnhealthy: s.intOrString("How many updated pods may be unhealthy at once, over all members.", { default: 0 }),
      unhealthyFor: s.duration("A pod that was available is unhealthy after it was unavailable for so long.", {
        default: "15s",
      }),
      maxRestarts: s.integer("How often the containers of one updated pod may restart.", { default: 3, minimum: 0 }),
      onUnreachable: s.string(
        "A member that cannot be reached for longer than the progress deadline: `Fail` fails the release, " +
          "`Wait` holds it, `Skip` continues without the member, which follows when it is back.",
        { enum: ["Fail", "Wait", "Skip"], default: "Fail" },
      ),
    },
    { default: {} },
  ),
};

const strategyObject = s.object(strategyFields);
export type StrategySpec = s.Infer<typeof strategyObject>;
export type WaveSpec = StrategySpec["waves"][number];
export type GateSpec = s.Infer<typeof gate>;
