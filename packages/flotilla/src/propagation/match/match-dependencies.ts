/** What match reads and calls. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { Client } from "@flotilla/client";
import type { Lister, Source } from "@flotilla/controller-runtime";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import type { LocatePods } from "../../membership/locate-pods.ts";
import type { PipelineMeter } from "../meter.ts";
import type { ReportRuleFailure } from "../rules/rule-failures.ts";
import type { TemplateKey, Templates } from "../templates/templates.ts";
import type { PolicyEvents } from "./policy-events.ts";
import type { PolicyIndex } from "./policy-index.ts";
import type { PolicyTally } from "./policy-tally.ts";
import type { PrerequisiteListers } from "./prerequisites.ts";

export interface MatchDependencies extends PrerequisiteListers {
  hub: string;
  client: Client;
  templates: Templates;
  policies: PolicyIndex;
  /** Bindings of each scope. */
  bindings: Lister<ResourceBinding>;
  clusterBindings: Lister<ResourceBinding>;
  interpreter: Pick<Interpreter, "replicas" | "components" | "levelOf">;
  /** Whether multi-component workloads are placed as a whole, so that their components are counted. */
  countsComponents: boolean;
  /** Templates whose interpreter rules changed. */
  ruleChanges: Source<TemplateKey>;
  reportRuleFailure: ReportRuleFailure;
  changes: PolicyEvents;
  locatePods: LocatePods;
  tally: Pick<PolicyTally, "wait">;
  meter?: PipelineMeter;
}
