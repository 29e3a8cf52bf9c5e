/** NodePodProbe: everything that Flotilla knows about the kind. Its controller runs with that of PodProbeMarker. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { NodePodProbe } from "./nodepodprobe-kind.ts";

export const nodePodProbe = defineKruiseKind({ kind: NodePodProbe, example: exampleOf(NodePodProbe, {}) });
