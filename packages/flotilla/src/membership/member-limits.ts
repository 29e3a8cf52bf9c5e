/** How much of a member the hub keeps in memory. A member is not trusted: it may send anything. */
import type { InformerLimits } from "@flotilla/controller-runtime";

/**
 * Nodes, pods and the objects that Works name. The largest supported Kubernetes clusters have 150,000 pods; a few
 * hundred bytes of each are kept. A fleet with larger members raises these with flags.
 */
export const MEMBER_LIMITS: InformerLimits = { objects: 200_000, bytes: 256 * 1024 * 1024 };
