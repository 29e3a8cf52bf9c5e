/** Validation of CronFederatedHPA, as in Karmada's webhook. */
import type { DeepReadonly } from "@flotilla/base";
import { field, formatApiVersion, pathSegmentProblems } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { parseSchedule, zoneProblem, zonedSchedule } from "@flotilla/kubernetes";
import { FederatedHpa } from "../federatedhpa/federatedhpa-kind.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { CronFederatedHpa } from "./cronfederatedhpa-kind.ts";

type Spec = DeepReadonly<CronFederatedHpa["spec"]>;
type Rule = Spec["rules"][number];

export const cronFederatedHpaRules: AnyAdmission[] = [
  karmadaAdmission(CronFederatedHpa, {
    name: "cronfederatedhpa.karmada.io",
    check: ({ object }) => checkSpec(object.spec),
  }),
];

/** The API version of FederatedHPA: a target of this version must be one. */
const AUTOSCALING = formatApiVersion(FederatedHpa.group, FederatedHpa.storageVersion);

function checkSpec({ scaleTargetRef, rules }: Spec): FieldError[] {
  const scalesLimits = scaleTargetRef.apiVersion === AUTOSCALING;
  if (scalesLimits && scaleTargetRef.kind !== FederatedHpa.kind) {
    const message = `invalid scaleTargetRef kind: ${scaleTargetRef.kind}, only support ${FederatedHpa.kind}`;
    return [field.invalid("spec.scaleTargetRef.kind", scaleTargetRef.kind, message)];
  }
  return [
    ...(["kind", "name"] as const).flatMap((part) => checkSegment(`spec.scaleTargetRef.${part}`, scaleTargetRef[part])),
    ...rules.flatMap((rule, index) => [
      ...(rules.findIndex(({ name }) => name === rule.name) < index
        ? [field.duplicate(`spec.rules[${index}].name`, rule.name)]
        : []),
      ...checkTimes(`spec.rules[${index}]`, rule),
      ...(scalesLimits
        ? checkLimits(`spec.rules[${index}]`, rule)
        : checkReplicas(`spec.rules[${index}]`, rule, scaleTargetRef.kind)),
    ]),
  ];
}

const checkSegment = (at: string, value: string): FieldError[] =>
  value === ""
    ? [field.required(at, "")]
    : pathSegmentProblems(value).map((problem) => field.invalid(at, value, problem));

function checkTimes(at: string, { schedule, timeZone }: Rule): FieldError[] {
  const zone = timeZone === undefined ? undefined : zoneProblem(timeZone);
  return [
    ...(typeof parseSchedule(zonedSchedule(schedule, undefined)) === "string"
      ? [field.invalid(`${at}.schedule`, schedule, "invalid cron format")]
      : []),
    ...(zone === undefined ? [] : [field.invalid(`${at}.timeZone`, timeZone ?? "", zone)]),
  ];
}

function checkLimits(at: string, { targetMinReplicas: min, targetMaxReplicas: max }: Rule): FieldError[] {
  return [
    ...(min === undefined && max === undefined
      ? [
          field.invalid(
            `${at}.targetMaxReplicas`,
            "",
            "targetMinReplicas and targetMaxReplicas cannot be nil at the same time if you want to scale FederatedHPA",
          ),
        ]
      : []),
    ...(min !== undefined && min <= 0
      ? [field.invalid(`${at}.targetMinReplicas`, "", "targetMinReplicas should be larger than 0")]
      : []),
    ...(max !== undefined && max <= 0
      ? [field.invalid(`${at}.targetMaxReplicas`, "", "targetMaxReplicas should be larger than 0")]
      : []),
    ...((min ?? 1) > (max ?? Infinity)
      ? [
          field.invalid(
            `${at}.targetMinReplicas`,
            "",
            "targetMaxReplicas should be larger than or equal to targetMinReplicas",
          ),
        ]
      : []),
  ];
}

function checkReplicas(at: string, { targetReplicas }: Rule, kind: string): FieldError[] {
  if (targetReplicas === undefined)
    return [field.invalid(`${at}.targetReplicas`, "", `targetReplicas cannot be nil if you want to scale ${kind}`)];
  return targetReplicas < 0
    ? [field.invalid(`${at}.targetReplicas`, "", "targetReplicas should be larger than or equal to 0")]
    : [];
}
