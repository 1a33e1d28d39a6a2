/** Types of the HTTP API, generated from the table of routes by `npm run client`; do not edit. */
export interface paths {
    "/api/v1/flex/run.stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run and stream its events */
        post: operations["runStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/run.resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a paused run, or answer what a node waits for, and stream its events */
        post: operations["runResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first; with sort=cost, the most expensive first */
        get: operations["listRuns"];
        put?: never;
        /** Start a run; with ?wait=SECONDS, respond when it is over or waits for a person */
        post: operations["createRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run with its envelope, plans, nodes, messages and output */
        get: operations["showRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs/{runId}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the answer of a completed run, secrets included */
        get: operations["showOutput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs/{runId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the events of a run: a stream with "Accept: text/event-stream", else a page of JSON */
        get: operations["runEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs/{runId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run; a finished run does not change */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs/{runId}/policies/{policyId}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Trigger a policy that has a manual trigger */
        post: operations["triggerPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/runs/{runId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replay a run offline, without calls; with other policies or node data, list the decisions that would differ */
        post: operations["replayRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/hitl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List asks: requests that wait for a person */
        get: operations["listAsks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/hitl/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolve an ask. The decision is bound to the value that was shown, and only the first decision counts */
        post: operations["resolveAsk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hitl/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deprecated path of hitl/resolve
         * @deprecated
         */
        post: operations["resolveAskOldPath"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List threads, last changed first */
        get: operations["listThreads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/threads/{threadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a thread: its runs with messages, answers and asks, and the messages that wait */
        get: operations["showThread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/threads/{threadId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a message to a thread and start its run, or queue it while another one is not over */
        post: operations["addMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the schedules of the caller’s tenant, newest first */
        get: operations["listSchedules"];
        put?: never;
        /** Add a schedule: start a run at every match of a cron pattern, or once at a time */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/schedules/{scheduleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a schedule: its next ticks, and what happened at the last ones */
        get: operations["showSchedule"];
        put?: never;
        post?: never;
        /** Delete a schedule; the runs that it started continue */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        /** Change, pause or resume a schedule */
        patch: operations["changeSchedule"];
        trace?: never;
    };
    "/api/v1/flex/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what agents remember, newest first; with search, the best match first */
        get: operations["listMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/memories/{memoryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a memory */
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tasks of people: open ones by priority and due time, past ones oldest first */
        get: operations["listTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tasks/{requestId}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Claim a task; 409 names the person who holds it */
        post: operations["claimTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tasks/{requestId}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Release a claimed task; an admin may release the task of another person */
        post: operations["releaseTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tasks/{requestId}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete a task with its result, which must satisfy the contract; the run continues */
        post: operations["completeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tasks/{requestId}/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decline a task: it passes to the next assignee, to the role, or to an alternate of its node */
        post: operations["declineTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/prove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Plan an envelope, or check its draft, and prove whether it can satisfy the contract */
        post: operations["proveEnvelope"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the health report: repairs, failures and fallbacks of model calls, over time, and what to change */
        get: operations["showHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/capabilities/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Register an agent or a person, or update a registration; returns the signing key when a new one is created */
        post: operations["registerCapability"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/capabilities/{capabilityId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deregister the agent; new plans no longer use it */
        delete: operations["deregisterCapability"];
        options?: never;
        head?: never;
        /** Send a heartbeat */
        patch: operations["heartbeatCapability"];
        trace?: never;
    };
    "/api/v1/flex/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the capabilities that plans of the tenant can use: built-in ones, those of this process, and registered agents */
        get: operations["listCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the facets that contracts of the tenant can name: those of the server, and its own */
        get: operations["listFacets"];
        put?: never;
        /** Define a facet of the caller’s tenant; it does not change once it is defined */
        post: operations["createFacet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/facets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a facet of the caller’s tenant that no agent and no other facet uses */
        delete: operations["deleteFacet"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/callbacks/{callId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver the answer of an agent that returned 202: an output, a text to parse, a question, or an error */
        post: operations["postCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/capabilities/{capabilityId}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take the next call of an agent that polls; waits until there is one, or the time is over */
        post: operations["takeCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/capabilities/{capabilityId}/calls/{idempotencyKey}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin a call that was taken, renew it while it is executed, and send new text of a stream */
        post: operations["renewCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tokens of the caller’s tenant, without their values */
        get: operations["listTokens"];
        put?: never;
        /** Create a token of the caller’s tenant; it is only shown in this response */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tokens/{tokenId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace a token of the caller’s tenant; the old one stays valid for the overlap */
        post: operations["rotateToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/tokens/{tokenId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a token of the caller’s tenant at once */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhooks of the caller’s tenant, without their secrets */
        get: operations["listWebhooks"];
        put?: never;
        /** Add a webhook of the caller’s tenant; its secret is only shown in this response */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a webhook; what is not delivered yet is dropped */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /** Change, pause or resume a webhook, or rotate its secret; the old one signs for another day */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/api/v1/flex/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the deliveries of a webhook with their tries, newest first */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/webhooks/{webhookId}/deliveries/{deliveryId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver again at once, with the same id and body */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show queue, leases, stuck runs and processes of all tenants */
        get: operations["showStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List changes of tokens, settings and registrations, and deleted runs, newest first */
        get: operations["listOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erase one run of the caller’s tenant, or every run about a subject, and return a receipt */
        post: operations["eraseRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/secrets/reseal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Encrypt the secrets of the tenant’s agents and runs with the newest key of the server */
        post: operations["resealSecrets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Liveness probe: the process is alive */
        get: operations["livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Readiness probe: the server accepts requests and its store can be written to */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get where the console signs in; without a provider, only by a token */
        get: operations["showSignIn"];
        put?: never;
        /** Exchange the code of the identity provider for a token of this session */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the name, role and tenant of the token, and the optional features of this server */
        get: operations["showCaller"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the counters and histograms of this process in the Prometheus text format */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get this OpenAPI document */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/sandbox/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get facets, capabilities, the planner prompt and envelope templates */
        get: operations["sandboxMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/sandbox/envelope/conversation/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a conversation that drafts an envelope; kept in memory for 30 minutes, never stored */
        post: operations["startSandboxConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/flex/sandbox/envelope/conversation/{conversationId}/respond": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message to the assistant; an envelope in the request replaces the draft first */
        post: operations["respondInSandboxConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            code: string;
            hint: string;
            issues?: {
                pointer: string;
                code: string;
                message: string;
                hint?: string;
            }[];
            traceId: string;
        };
        Error: {
            /** @enum {unknown} */
            type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
            reason: string;
            message: string;
            details: {
                [key: string]: unknown;
            };
            path: string;
        };
        Frame: {
            /** @enum {unknown} */
            type: "start" | "plan_requested" | "plan_rejected" | "plan_generated" | "plan_updated" | "node_start" | "iteration_start" | "iteration_end" | "attempt_start" | "attempt_accepted" | "turn_start" | "turn_end" | "tool_start" | "tool_end" | "attempt_end" | "attempt_settled" | "budget_reserved" | "budget_settled" | "rao_decision" | "node_complete" | "node_error" | "node_skipped" | "validation_error" | "policy_triggered" | "hitl_request" | "hitl_approval" | "hitl_assigned" | "hitl_resolved" | "feedback_recorded" | "nodes_reopened" | "timer_set" | "timer_fired" | "lease_lost" | "quarantined" | "cancel_requested" | "log" | "complete";
            id: number;
            /** Format: date-time */
            timestamp: string;
            payload: {
                error?: {
                    /** @enum {unknown} */
                    type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                    reason: string;
                    message: string;
                    details: {
                        [key: string]: unknown;
                    };
                    path: string;
                };
                errors?: {
                    /** @enum {unknown} */
                    type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                    reason: string;
                    message: string;
                    details: {
                        [key: string]: unknown;
                    };
                    path: string;
                }[];
            };
            message?: string;
            runId: string;
            nodeId?: string;
            planVersion: number;
            correlationId: string;
            facetProvenance?: {
                [key: string]: unknown;
            };
        };
        PartialFrame: {
            /** @constant */
            type: "partial";
            payload: {
                attempt: number;
                value: unknown;
                turn?: {
                    turn: number;
                    text: string;
                    calls: {
                        tool: string;
                        arguments?: unknown;
                    }[];
                };
            };
            runId: string;
            nodeId: string;
            correlationId: string;
        };
    };
    responses: {
        /** @description Any other error */
        Refused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
        traceparent: string;
        /** @description The same key and body return the first response; the same key with another body is rejected */
        idempotencyKey: string;
        /** @description Id of the last frame received: the stream continues after it */
        lastEventId: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    runStream: {
        parameters: {
            query?: {
                partials?: number;
            };
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Id of the last frame received: the stream continues after it */
                "Last-Event-ID"?: components["parameters"]["lastEventId"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The events of the run as frames; ends when the run is over or waits for a person */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    runResume: {
        parameters: {
            query?: {
                partials?: number;
            };
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Id of the last frame received: the stream continues after it */
                "Last-Event-ID"?: components["parameters"]["lastEventId"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    runId: string;
                    expectedPlanVersion?: number;
                    operator?: string | {
                        displayName?: string;
                    };
                    note?: string;
                    correlationId?: string;
                    payload?: {
                        nodeId: string;
                        output?: unknown;
                        decline?: {
                            reason?: string;
                            note?: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description The events of the run as frames; ends when the run is over or waits for a person */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                status?: ("pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled")[];
                threadId?: string;
                search?: string;
                minCostUsd?: number;
                maxCostUsd?: number;
                nodeId?: string;
                model?: string;
                sort?: "created" | "cost";
                limit?: number;
                before?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs; pass next as before for the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runs: {
                            runId: string;
                            /** @enum {unknown} */
                            status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                            planVersion: number;
                            events: number;
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            updatedAt: string;
                            objective: string;
                            pipeline?: string;
                            schemaHash?: string;
                            correlationId?: string;
                            threadId?: string;
                            satisfactionScore?: number;
                            observedSatisfaction?: number;
                            costUsd?: number;
                            tokens?: number;
                        }[];
                        next?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    createRun: {
        parameters: {
            query?: {
                wait?: number;
                partials?: number;
            };
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The run is over, or waits for a person */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runId: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                        location: string;
                        warnings: {
                            [key: string]: unknown;
                        }[];
                        output?: unknown;
                        openAsks?: string[];
                        error?: {
                            /** @enum {unknown} */
                            type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                            reason: string;
                            message: string;
                            details: {
                                [key: string]: unknown;
                            };
                            path: string;
                        };
                    };
                };
            };
            /** @description The run has started; one that is `pending` waits for the runs of its thread */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runId: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                        location: string;
                        warnings: {
                            [key: string]: unknown;
                        }[];
                        output?: unknown;
                        openAsks?: string[];
                        error?: {
                            /** @enum {unknown} */
                            type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                            reason: string;
                            message: string;
                            details: {
                                [key: string]: unknown;
                            };
                            path: string;
                        };
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        run: {
                            runId: string;
                            /** @enum {unknown} */
                            status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                            planVersion: number;
                            events: number;
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            updatedAt: string;
                            objective: string;
                            pipeline?: string;
                            schemaHash?: string;
                            correlationId?: string;
                            threadId?: string;
                            satisfactionScore?: number;
                            observedSatisfaction?: number;
                            costUsd?: number;
                            tokens?: number;
                        };
                        paused?: {
                            reason: string;
                            quarantined: boolean;
                            hint: string;
                        };
                        output: {
                            error?: {
                                /** @enum {unknown} */
                                type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                                reason: string;
                                message: string;
                                details: {
                                    [key: string]: unknown;
                                };
                                path: string;
                            };
                        } | null;
                        planVersions: {
                            [key: string]: unknown;
                        }[];
                        latestSnapshot: Record<string, never> | null;
                        nodes: {
                            nodeId: string;
                            error?: {
                                /** @enum {unknown} */
                                type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                                reason: string;
                                message: string;
                                details: {
                                    [key: string]: unknown;
                                };
                                path: string;
                            };
                        }[];
                        messages: {
                            messageId: string;
                            seq: number;
                            /** Format: date-time */
                            at: string;
                            /** @enum {unknown} */
                            role: "agent" | "operator" | "system";
                            requestId: string;
                            nodeId?: string;
                            body: {
                                [key: string]: unknown;
                            };
                        }[];
                        feedback: {
                            /** @enum {unknown} */
                            source: "reply" | "validation" | "goal" | "plan";
                            nodes?: string[];
                            requestId?: string;
                            decision?: string;
                            note?: string;
                            value?: unknown;
                            /** @constant */
                            cut?: true;
                            issues?: {
                                [key: string]: unknown;
                            }[];
                            by?: string;
                            planVersion?: number;
                        }[];
                        /** @constant */
                        olderMessages?: true;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showOutput: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runId: string;
                        /** @constant */
                        status: "completed";
                        output: unknown;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    runEvents: {
        parameters: {
            query?: {
                after?: number;
                last?: number;
                limit?: number;
                partials?: number;
            };
            header?: {
                /** @description Id of the last frame received: the stream continues after it */
                "Last-Event-ID"?: components["parameters"]["lastEventId"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Frames, each once and in order. As a stream after `Last-Event-ID` until the run is over; as JSON { events, next } */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                    "application/json": {
                        events: {
                            /** @enum {unknown} */
                            type: "start" | "plan_requested" | "plan_rejected" | "plan_generated" | "plan_updated" | "node_start" | "iteration_start" | "iteration_end" | "attempt_start" | "attempt_accepted" | "turn_start" | "turn_end" | "tool_start" | "tool_end" | "attempt_end" | "attempt_settled" | "budget_reserved" | "budget_settled" | "rao_decision" | "node_complete" | "node_error" | "node_skipped" | "validation_error" | "policy_triggered" | "hitl_request" | "hitl_approval" | "hitl_assigned" | "hitl_resolved" | "feedback_recorded" | "nodes_reopened" | "timer_set" | "timer_fired" | "lease_lost" | "quarantined" | "cancel_requested" | "log" | "complete";
                            id: number;
                            /** Format: date-time */
                            timestamp: string;
                            payload: {
                                error?: {
                                    /** @enum {unknown} */
                                    type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                                    reason: string;
                                    message: string;
                                    details: {
                                        [key: string]: unknown;
                                    };
                                    path: string;
                                };
                                errors?: {
                                    /** @enum {unknown} */
                                    type: "TASK_FAILURE" | "RESOURCE_EXHAUSTION" | "CONTRACT_ERROR" | "PLAN_REJECTED" | "BLUEPRINT_ERROR";
                                    reason: string;
                                    message: string;
                                    details: {
                                        [key: string]: unknown;
                                    };
                                    path: string;
                                }[];
                            };
                            message?: string;
                            runId: string;
                            nodeId?: string;
                            planVersion: number;
                            correlationId: string;
                            facetProvenance?: {
                                [key: string]: unknown;
                            };
                        }[];
                        next?: number;
                    };
                };
            };
            /** @description For a stream: the run is over, and the client has received its last event */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The run was over, or had not started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        runId: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                    };
                };
            };
            /** @description The run is being cancelled */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        runId: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    triggerPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                runId: string;
                policyId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | Record<string, never>;
            };
        };
        responses: {
            /** @description The policy is triggered */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        runId: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    replayRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    policies?: unknown[];
                    nodeData?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description What the engine would decide */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: number;
                        decisions: number;
                        differences: {
                            after: number;
                            recorded: string[];
                            instead: string[];
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listAsks: {
        parameters: {
            query?: {
                status?: "pending" | "resolved" | "denied";
                runId?: string;
                limit?: number;
                after?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of asks, oldest first; pass next as after for the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        asks: {
                            requestId: string;
                            runId: string;
                            kind: string;
                            nodeId?: string;
                            policyId?: string;
                            capabilityId?: string;
                            toolCall?: {
                                turn: number;
                                call: number;
                                tool: string;
                                within?: {
                                    turn: number;
                                    call: number;
                                    tool: string;
                                }[];
                            };
                            question: string;
                            value: unknown;
                            valueHash: string;
                            schema?: Record<string, never> | boolean;
                            conditions?: unknown[];
                            issues?: {
                                [key: string]: unknown;
                            }[];
                            rao?: {
                                thresholds: {
                                    autoApproveAbove: number;
                                    reviewLow: number;
                                    reviewHigh: number;
                                    suppressBelow: number;
                                };
                                confidence: number | null;
                                type: string | null;
                                escalate: boolean;
                                /** @enum {unknown} */
                                decision: "auto_approve" | "human_review" | "suppress";
                                reasoning?: string;
                            };
                            raw?: string;
                            decisions: string[];
                            rejectAction?: {
                                [key: string]: unknown;
                            };
                            rejectActions?: ("fail" | "retry" | "replan")[];
                            grants?: ("run" | "thread")[];
                            producers?: string[];
                            feedback?: {
                                /** @enum {unknown} */
                                source: "reply" | "validation" | "goal" | "plan";
                                nodes?: string[];
                                requestId?: string;
                                decision?: string;
                                note?: string;
                                value?: unknown;
                                /** @constant */
                                cut?: true;
                                issues?: {
                                    [key: string]: unknown;
                                }[];
                                by?: string;
                                planVersion?: number;
                            }[];
                            /** @enum {unknown} */
                            status: "pending" | "resolved" | "denied";
                            /** Format: date-time */
                            createdAt?: string;
                            /** Format: date-time */
                            expiresAt: string;
                            /** Format: date-time */
                            resolvedAt?: string;
                            decision?: string;
                            by?: string;
                            note?: string;
                            approvers?: number;
                            approvedBy?: string[];
                            assignment?: {
                                [key: string]: unknown;
                            };
                        }[];
                        next?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    resolveAsk: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    requestId: string;
                    /** @enum {unknown} */
                    decision: "approve" | "edit" | "reject" | "answer";
                    value?: unknown;
                    valueHash: string;
                    /** @enum {unknown} */
                    rejectAction?: "fail" | "retry" | "replan";
                    /** @enum {unknown} */
                    grant?: "run" | "thread";
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The decision is recorded and the run continues */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        runId: string;
                        requestId: string;
                        decision: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                        missingApprovals?: number;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    resolveAskOldPath: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    requestId: string;
                    /** @enum {unknown} */
                    decision: "approve" | "edit" | "reject" | "answer";
                    value?: unknown;
                    valueHash: string;
                    /** @enum {unknown} */
                    rejectAction?: "fail" | "retry" | "replan";
                    /** @enum {unknown} */
                    grant?: "run" | "thread";
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The decision is recorded and the run continues */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        runId: string;
                        requestId: string;
                        decision: string;
                        /** @enum {unknown} */
                        status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                        missingApprovals?: number;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listThreads: {
        parameters: {
            query?: {
                limit?: number;
                before?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of threads; pass next as before for the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        threads: {
                            threadId: string;
                            runs: number;
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            updatedAt: string;
                        }[];
                        next?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showThread: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread, oldest run first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        threadId: string;
                        turns: {
                            runId: string;
                            /** @enum {unknown} */
                            status: "pending" | "running" | "awaiting_hitl" | "awaiting_human" | "quarantined" | "completed" | "failed" | "cancelled";
                            message: string;
                            output?: unknown;
                            error?: string;
                            asks?: {
                                question: string;
                                decision?: string;
                                value?: unknown;
                                note?: string;
                            }[];
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            updatedAt: string;
                        }[];
                        queued: {
                            runId: string;
                            message: string;
                            /** Format: date-time */
                            createdAt: string;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    addMessage: {
        parameters: {
            query?: {
                partials?: number;
            };
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                threadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    message: string;
                    envelope?: {
                        [key: string]: unknown;
                    };
                    draft?: {
                        [key: string]: unknown;
                    };
                    /** @enum {unknown} */
                    whenBusy?: "queue" | "interrupt" | "reject";
                };
            };
        };
        responses: {
            /** @description The run has started, or starts when those before it are over */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        runId: string;
                        /** @enum {unknown} */
                        status: "started" | "queued";
                        location: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listSchedules: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        schedules: {
                            scheduleId: string;
                            description?: string;
                            cron?: string;
                            timeZone?: string;
                            /** Format: date-time */
                            at?: string;
                            threadId?: string;
                            /** @enum {unknown} */
                            missed: "once" | "skip" | "all";
                            /** @enum {unknown} */
                            overlap: "allow" | "skip";
                            envelope: {
                                [key: string]: unknown;
                            };
                            draft?: {
                                [key: string]: unknown;
                            };
                            /** @enum {unknown} */
                            status: "active" | "paused" | "done";
                            next: string[];
                            past: {
                                /** Format: date-time */
                                at: string;
                                runId?: string;
                                /** @enum {unknown} */
                                skipped?: "missed" | "overlap" | "quota";
                                error?: string;
                            }[];
                            /** Format: date-time */
                            createdAt: string;
                            createdBy: string;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    cron?: string;
                    timeZone?: string;
                    /** Format: date-time */
                    at?: string;
                    threadId?: string;
                    /** @enum {unknown} */
                    missed?: "once" | "skip" | "all";
                    /** @enum {unknown} */
                    overlap?: "allow" | "skip";
                    isPaused?: boolean;
                    envelope: {
                        [key: string]: unknown;
                    };
                    draft?: {
                        [key: string]: unknown;
                    };
                    scheduleId?: string;
                };
            };
        };
        responses: {
            /** @description The schedule */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scheduleId: string;
                        description?: string;
                        cron?: string;
                        timeZone?: string;
                        /** Format: date-time */
                        at?: string;
                        threadId?: string;
                        /** @enum {unknown} */
                        missed: "once" | "skip" | "all";
                        /** @enum {unknown} */
                        overlap: "allow" | "skip";
                        envelope: {
                            [key: string]: unknown;
                        };
                        draft?: {
                            [key: string]: unknown;
                        };
                        /** @enum {unknown} */
                        status: "active" | "paused" | "done";
                        next: string[];
                        past: {
                            /** Format: date-time */
                            at: string;
                            runId?: string;
                            /** @enum {unknown} */
                            skipped?: "missed" | "overlap" | "quota";
                            error?: string;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        createdBy: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showSchedule: {
        parameters: {
            query?: {
                fires?: number;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scheduleId: string;
                        description?: string;
                        cron?: string;
                        timeZone?: string;
                        /** Format: date-time */
                        at?: string;
                        threadId?: string;
                        /** @enum {unknown} */
                        missed: "once" | "skip" | "all";
                        /** @enum {unknown} */
                        overlap: "allow" | "skip";
                        envelope: {
                            [key: string]: unknown;
                        };
                        draft?: {
                            [key: string]: unknown;
                        };
                        /** @enum {unknown} */
                        status: "active" | "paused" | "done";
                        next: string[];
                        past: {
                            /** Format: date-time */
                            at: string;
                            runId?: string;
                            /** @enum {unknown} */
                            skipped?: "missed" | "overlap" | "quota";
                            error?: string;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        createdBy: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    changeSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    cron?: string;
                    timeZone?: string;
                    /** Format: date-time */
                    at?: string;
                    threadId?: string;
                    /** @enum {unknown} */
                    missed?: "once" | "skip" | "all";
                    /** @enum {unknown} */
                    overlap?: "allow" | "skip";
                    isPaused?: boolean;
                    envelope?: {
                        [key: string]: unknown;
                    };
                    draft?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description The schedule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scheduleId: string;
                        description?: string;
                        cron?: string;
                        timeZone?: string;
                        /** Format: date-time */
                        at?: string;
                        threadId?: string;
                        /** @enum {unknown} */
                        missed: "once" | "skip" | "all";
                        /** @enum {unknown} */
                        overlap: "allow" | "skip";
                        envelope: {
                            [key: string]: unknown;
                        };
                        draft?: {
                            [key: string]: unknown;
                        };
                        /** @enum {unknown} */
                        status: "active" | "paused" | "done";
                        next: string[];
                        past: {
                            /** Format: date-time */
                            at: string;
                            runId?: string;
                            /** @enum {unknown} */
                            skipped?: "missed" | "overlap" | "quota";
                            error?: string;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        createdBy: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listMemories: {
        parameters: {
            query?: {
                search?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All memories of the tenant, or those with a word of the search */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        memories: {
                            id: string;
                            text: string;
                            tags: string[];
                            /** Format: date-time */
                            at: string;
                            runId: string;
                        }[];
                    };
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    deleteMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                memoryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        id: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listTasks: {
        parameters: {
            query?: {
                status?: "pending" | "resolved" | "denied";
                filter?: "mine" | "role" | "available" | "all";
                runId?: string;
                limit?: number;
                after?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tasks; pass next as after for the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tasks: {
                            requestId: string;
                            runId: string;
                            nodeId?: string;
                            capabilityId?: string;
                            /** @enum {unknown} */
                            status: "pending" | "resolved" | "denied";
                            /** @enum {unknown} */
                            priority: "low" | "normal" | "high" | "urgent";
                            assignee?: string;
                            next?: string[];
                            role?: string;
                            claimedBy?: string;
                            /** Format: date-time */
                            claimedAt?: string;
                            declinedBy?: string[];
                            question: string;
                            value: unknown;
                            valueHash: string;
                            schema?: Record<string, never> | boolean;
                            conditions?: unknown[];
                            feedback?: {
                                /** @enum {unknown} */
                                source: "reply" | "validation" | "goal" | "plan";
                                nodes?: string[];
                                requestId?: string;
                                decision?: string;
                                note?: string;
                                value?: unknown;
                                /** @constant */
                                cut?: true;
                                issues?: {
                                    [key: string]: unknown;
                                }[];
                                by?: string;
                                planVersion?: number;
                            }[];
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            dueAt: string;
                            /** Format: date-time */
                            resolvedAt?: string;
                            decision?: string;
                            by?: string;
                            note?: string;
                        }[];
                        next?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    claimTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The task after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        requestId: string;
                        runId: string;
                        nodeId?: string;
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status: "pending" | "resolved" | "denied";
                        /** @enum {unknown} */
                        priority: "low" | "normal" | "high" | "urgent";
                        assignee?: string;
                        next?: string[];
                        role?: string;
                        claimedBy?: string;
                        /** Format: date-time */
                        claimedAt?: string;
                        declinedBy?: string[];
                        question: string;
                        value: unknown;
                        valueHash: string;
                        schema?: Record<string, never> | boolean;
                        conditions?: unknown[];
                        feedback?: {
                            /** @enum {unknown} */
                            source: "reply" | "validation" | "goal" | "plan";
                            nodes?: string[];
                            requestId?: string;
                            decision?: string;
                            note?: string;
                            value?: unknown;
                            /** @constant */
                            cut?: true;
                            issues?: {
                                [key: string]: unknown;
                            }[];
                            by?: string;
                            planVersion?: number;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        dueAt: string;
                        /** Format: date-time */
                        resolvedAt?: string;
                        decision?: string;
                        by?: string;
                        note?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    releaseTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The task after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        requestId: string;
                        runId: string;
                        nodeId?: string;
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status: "pending" | "resolved" | "denied";
                        /** @enum {unknown} */
                        priority: "low" | "normal" | "high" | "urgent";
                        assignee?: string;
                        next?: string[];
                        role?: string;
                        claimedBy?: string;
                        /** Format: date-time */
                        claimedAt?: string;
                        declinedBy?: string[];
                        question: string;
                        value: unknown;
                        valueHash: string;
                        schema?: Record<string, never> | boolean;
                        conditions?: unknown[];
                        feedback?: {
                            /** @enum {unknown} */
                            source: "reply" | "validation" | "goal" | "plan";
                            nodes?: string[];
                            requestId?: string;
                            decision?: string;
                            note?: string;
                            value?: unknown;
                            /** @constant */
                            cut?: true;
                            issues?: {
                                [key: string]: unknown;
                            }[];
                            by?: string;
                            planVersion?: number;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        dueAt: string;
                        /** Format: date-time */
                        resolvedAt?: string;
                        decision?: string;
                        by?: string;
                        note?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    completeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                requestId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    value: unknown;
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The task after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        requestId: string;
                        runId: string;
                        nodeId?: string;
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status: "pending" | "resolved" | "denied";
                        /** @enum {unknown} */
                        priority: "low" | "normal" | "high" | "urgent";
                        assignee?: string;
                        next?: string[];
                        role?: string;
                        claimedBy?: string;
                        /** Format: date-time */
                        claimedAt?: string;
                        declinedBy?: string[];
                        question: string;
                        value: unknown;
                        valueHash: string;
                        schema?: Record<string, never> | boolean;
                        conditions?: unknown[];
                        feedback?: {
                            /** @enum {unknown} */
                            source: "reply" | "validation" | "goal" | "plan";
                            nodes?: string[];
                            requestId?: string;
                            decision?: string;
                            note?: string;
                            value?: unknown;
                            /** @constant */
                            cut?: true;
                            issues?: {
                                [key: string]: unknown;
                            }[];
                            by?: string;
                            planVersion?: number;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        dueAt: string;
                        /** Format: date-time */
                        resolvedAt?: string;
                        decision?: string;
                        by?: string;
                        note?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    declineTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body return the first response; the same key with another body is rejected */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The task after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        requestId: string;
                        runId: string;
                        nodeId?: string;
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status: "pending" | "resolved" | "denied";
                        /** @enum {unknown} */
                        priority: "low" | "normal" | "high" | "urgent";
                        assignee?: string;
                        next?: string[];
                        role?: string;
                        claimedBy?: string;
                        /** Format: date-time */
                        claimedAt?: string;
                        declinedBy?: string[];
                        question: string;
                        value: unknown;
                        valueHash: string;
                        schema?: Record<string, never> | boolean;
                        conditions?: unknown[];
                        feedback?: {
                            /** @enum {unknown} */
                            source: "reply" | "validation" | "goal" | "plan";
                            nodes?: string[];
                            requestId?: string;
                            decision?: string;
                            note?: string;
                            value?: unknown;
                            /** @constant */
                            cut?: true;
                            issues?: {
                                [key: string]: unknown;
                            }[];
                            by?: string;
                            planVersion?: number;
                        }[];
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        dueAt: string;
                        /** Format: date-time */
                        resolvedAt?: string;
                        decision?: string;
                        by?: string;
                        note?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    proveEnvelope: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The proof, also for a plan that is rejected */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        accepted: boolean;
                        status: string;
                        satisfactionScore: number;
                        failures: {
                            [key: string]: unknown;
                        }[];
                        warnings: {
                            [key: string]: unknown;
                        }[];
                        infos: {
                            [key: string]: unknown;
                        }[];
                        answer: {
                            name: string;
                            /** @enum {unknown} */
                            verdict: "proved" | "checked" | "wished" | "missing";
                            sources: {
                                [key: string]: unknown;
                            }[];
                            nodes: string[];
                            text?: string;
                        }[];
                        constraints: {
                            name: string;
                            /** @enum {unknown} */
                            verdict: "proved" | "checked" | "wished" | "missing";
                            sources: {
                                [key: string]: unknown;
                            }[];
                            nodes: string[];
                            text?: string;
                        }[];
                        choices: {
                            [key: string]: unknown;
                        }[];
                        rao?: {
                            [key: string]: unknown;
                        }[];
                        plan?: {
                            [key: string]: unknown;
                        };
                        draft?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showHealth: {
        parameters: {
            query?: {
                sinceHours?: number;
                buckets?: number;
                step?: string;
                model?: string;
                pipeline?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                        /** Format: date-time */
                        generated_at: string;
                        totals: {
                            [key: string]: unknown;
                        };
                        stages: {
                            [key: string]: unknown;
                        };
                        step_stages?: {
                            [key: string]: unknown;
                        };
                        model_stages?: {
                            [key: string]: unknown;
                        };
                        steps: {
                            [key: string]: unknown;
                        }[];
                        models: {
                            [key: string]: unknown;
                        }[];
                        transforms: {
                            [key: string]: unknown;
                        }[];
                        recommendations: {
                            [key: string]: unknown;
                        }[];
                        trend?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    registerCapability: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    capabilityId: string;
                    version: string;
                    displayName: string;
                    summary: string;
                    /** @enum {unknown} */
                    nodeKind?: "structuring" | "branch" | "execution" | "transformation" | "validation" | "fallback" | "routing" | "map" | "loop";
                    inputContract: string[] | {
                        [key: string]: unknown;
                    };
                    outputContract: string[] | {
                        [key: string]: unknown;
                    };
                    idempotent?: boolean;
                    sideEffect?: boolean;
                    postConditions?: (Record<string, never> | boolean)[];
                    rao?: {
                        contract?: boolean;
                        autoApproveAbove?: number;
                        reviewLow?: number;
                        reviewHigh?: number;
                        suppressBelow?: number;
                        /** @enum {unknown} */
                        confidenceType?: "verbalized" | "token_level" | "calibrated";
                        maxInferenceMs?: number;
                        contractVersion?: string;
                    };
                    human?: {
                        assignee?: string | string[];
                        role?: string;
                        /** @enum {unknown} */
                        priority?: "low" | "normal" | "high" | "urgent";
                        dueSeconds?: number;
                    };
                    inputTraits?: {
                        languages?: string[];
                        formats?: string[];
                        strengths?: string[];
                        limitations?: string[];
                    };
                    cost?: {
                        tier?: string;
                        estimatedTokens?: number;
                    };
                    preferredModels?: string[];
                    heartbeat?: {
                        intervalSeconds?: number;
                        timeoutSeconds?: number;
                    };
                    metadata?: {
                        [key: string]: unknown;
                    };
                    endpoint?: {
                        url?: string;
                        /**
                         * @description Workers of the agent take its calls; it has no URL
                         * @constant
                         */
                        poll?: true;
                        timeoutMs?: number;
                    };
                    auth?: {
                        /** @constant */
                        kind: "bearer";
                        token: string;
                    };
                    rotateKey?: boolean;
                };
            };
        };
        responses: {
            /** @description Renewed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status?: "active" | "inactive";
                        registeredAt?: string;
                        lastSeenAt?: string;
                        heartbeat?: {
                            intervalSeconds?: number;
                            timeoutSeconds?: number;
                        };
                        contracts?: {
                            [key: string]: unknown;
                        };
                        keyId?: string;
                        /** @description Shown only in this response */
                        signingKey?: string;
                        warnings?: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
            /** @description Registered */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status?: "active" | "inactive";
                        registeredAt?: string;
                        lastSeenAt?: string;
                        heartbeat?: {
                            intervalSeconds?: number;
                            timeoutSeconds?: number;
                        };
                        contracts?: {
                            [key: string]: unknown;
                        };
                        keyId?: string;
                        /** @description Shown only in this response */
                        signingKey?: string;
                        warnings?: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    deregisterCapability: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                capabilityId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deregistered */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    heartbeatCapability: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                capabilityId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Heartbeat recorded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        capabilityId?: string;
                        /** @enum {unknown} */
                        status?: "active" | "inactive";
                        registeredAt?: string;
                        lastSeenAt?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listCapabilities: {
        parameters: {
            query?: {
                q?: string;
                facet?: string;
                status?: "active" | "inactive";
                limit?: number;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ordered by match if text is given */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        capabilities: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listFacets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The facets */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        facets: {
                            name: string;
                            title: string;
                            description: string;
                            schema: Record<string, never> | boolean;
                            semantics: {
                                [key: string]: unknown;
                            };
                            metadata: {
                                [key: string]: unknown;
                            };
                            /** @enum {unknown} */
                            source: "shared" | "tenant";
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    createFacet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    title?: string;
                    description?: string;
                    schema: Record<string, never> | boolean;
                    semantics?: string | {
                        instruction: string;
                    };
                    instruction?: string;
                    metadata: {
                        version?: string;
                        /** @enum {unknown} */
                        direction?: "input" | "output" | "bidirectional";
                        /** @enum {unknown} */
                        directionality?: "input" | "output" | "bidirectional";
                        dependencies?: string[];
                        propertyKey?: string;
                    } | unknown | unknown;
                };
            };
        };
        responses: {
            /** @description It was defined like this before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        title: string;
                        description: string;
                        schema: Record<string, never> | boolean;
                        semantics: {
                            [key: string]: unknown;
                        };
                        metadata: {
                            [key: string]: unknown;
                        };
                        /** @enum {unknown} */
                        source: "shared" | "tenant";
                    };
                };
            };
            /** @description Defined */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        title: string;
                        description: string;
                        schema: Record<string, never> | boolean;
                        semantics: {
                            [key: string]: unknown;
                        };
                        metadata: {
                            [key: string]: unknown;
                        };
                        /** @enum {unknown} */
                        source: "shared" | "tenant";
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    deleteFacet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    postCallback: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    output?: unknown;
                    text?: string;
                    /** @description A question that a person must answer first */
                    question?: string;
                    /** @description JSON Schema of the answer to the question */
                    schema?: Record<string, never> | boolean;
                    error?: {
                        message: string;
                        /** @enum {unknown} */
                        outcome?: "refused" | "timed_out" | "throttled" | "unavailable" | "provider_error";
                        /** @description The call changed nothing, so a retry is safe */
                        notApplied?: boolean;
                    };
                };
            };
        };
        responses: {
            /** @description Accepted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "taken";
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    takeCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                capabilityId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    waitMs?: number;
                };
            };
        };
        responses: {
            /** @description A call: begin it with a renewal, then post the signed answer to the path of its callback */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        idempotencyKey: string;
                        delivery: number;
                        leaseMs: number;
                        /** @description Signs the answer of this call */
                        signingKey: string;
                        callbackPath: string;
                        body: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            /** @description No call in time */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    renewCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                capabilityId: string;
                idempotencyKey: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description As in the call */
                    delivery: number;
                    /** @description New text of a stream, for partial values */
                    text?: string;
                    /** @description Where it begins in the whole text */
                    offset?: number;
                };
            };
        };
        responses: {
            /** @description Renewed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "renewed";
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tokens: {
                            tokenId: string;
                            tenant: string;
                            /** @enum {unknown} */
                            role: "caller" | "agent" | "operator" | "admin";
                            name: string;
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            expiresAt?: string;
                            /** Format: date-time */
                            revokedAt?: string;
                            capabilityId?: string;
                            familyId?: string;
                            taskRoles?: string[];
                            token?: string;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    role: "caller" | "agent" | "operator" | "admin";
                    name: string;
                    expiresIn?: number;
                    capabilityId?: string;
                    taskRoles?: string[];
                };
            };
        };
        responses: {
            /** @description The token */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tokenId: string;
                        tenant: string;
                        /** @enum {unknown} */
                        role: "caller" | "agent" | "operator" | "admin";
                        name: string;
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        expiresAt?: string;
                        /** Format: date-time */
                        revokedAt?: string;
                        capabilityId?: string;
                        familyId?: string;
                        taskRoles?: string[];
                        token?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    rotateToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    overlap?: number;
                    expiresIn?: number;
                };
            };
        };
        responses: {
            /** @description The new token, and when the old one expires */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tokenId: string;
                        tenant: string;
                        /** @enum {unknown} */
                        role: "caller" | "agent" | "operator" | "admin";
                        name: string;
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        expiresAt?: string;
                        /** Format: date-time */
                        revokedAt?: string;
                        capabilityId?: string;
                        familyId?: string;
                        taskRoles?: string[];
                        token: string;
                        replaces: string;
                        /** Format: date-time */
                        oldExpiresAt: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        webhooks: {
                            webhookId: string;
                            url: string;
                            events: ("run.ended" | "ask.opened")[];
                            description?: string;
                            isPaused: boolean;
                            /** @enum {unknown} */
                            source: "tenant" | "settings";
                            /** Format: date-time */
                            createdAt?: string;
                            secret?: string;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    url: string;
                    events?: ("run.ended" | "ask.opened")[];
                    description?: string;
                };
            };
        };
        responses: {
            /** @description The webhook and its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        webhookId: string;
                        url: string;
                        events: ("run.ended" | "ask.opened")[];
                        description?: string;
                        isPaused: boolean;
                        /** @enum {unknown} */
                        source: "tenant" | "settings";
                        /** Format: date-time */
                        createdAt?: string;
                        secret?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    url?: string;
                    events?: ("run.ended" | "ask.opened")[];
                    description?: string;
                    isPaused?: boolean;
                    rotateSecret?: boolean;
                };
            };
        };
        responses: {
            /** @description The webhook, with its secret if that is new */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        webhookId: string;
                        url: string;
                        events: ("run.ended" | "ask.opened")[];
                        description?: string;
                        isPaused: boolean;
                        /** @enum {unknown} */
                        source: "tenant" | "settings";
                        /** Format: date-time */
                        createdAt?: string;
                        secret?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                status?: "pending" | "delivered" | "failed";
                limit?: number;
                after?: string;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries; pass next as after for the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveries: {
                            deliveryId: string;
                            /** @enum {unknown} */
                            event: "run.ended" | "ask.opened";
                            runId: string;
                            /** @enum {unknown} */
                            status: "pending" | "delivered" | "failed";
                            /** Format: date-time */
                            createdAt: string;
                            /** Format: date-time */
                            nextAt?: string;
                            attempts: number;
                            tries: {
                                /** Format: date-time */
                                at: string;
                                ms: number;
                                status?: number;
                                error?: string;
                            }[];
                            body: string;
                        }[];
                        next?: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                webhookId: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveryId: string;
                        /** @enum {unknown} */
                        event: "run.ended" | "ask.opened";
                        runId: string;
                        /** @enum {unknown} */
                        status: "pending" | "delivered" | "failed";
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        nextAt?: string;
                        attempts: number;
                        tries: {
                            /** Format: date-time */
                            at: string;
                            ms: number;
                            status?: number;
                            error?: string;
                        }[];
                        body: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        now: string;
                        store: string;
                        runs: {
                            [key: string]: number;
                        };
                        queue: {
                            due: number;
                            lagMs: number;
                            oldest: {
                                runId: string;
                                tenant: string;
                                /** Format: date-time */
                                dueAt: string;
                            }[];
                        };
                        leases: {
                            owner: string;
                            runs: number;
                            expired: number;
                        }[];
                        stuck: {
                            runId: string;
                            tenant?: string;
                            /** @enum {unknown} */
                            why: "due" | "quarantined";
                            placement?: string;
                            /** Format: date-time */
                            since: string;
                        }[];
                        oldestAsk?: {
                            runId: string;
                            tenant?: string;
                            requestId: string;
                            /** Format: date-time */
                            createdAt: string;
                        };
                        processes: {
                            owner: string;
                            /** @enum {unknown} */
                            role: "serve" | "api" | "worker";
                            host?: string;
                            pid?: number;
                            version?: string;
                            labels?: {
                                [key: string]: string;
                            };
                            active: number;
                            /** Format: date-time */
                            startedAt: string;
                            /** Format: date-time */
                            seenAt: string;
                            isAlive: boolean;
                            circuits?: {
                                name: string;
                                /** @enum {unknown} */
                                state: "open" | "half-open";
                                /** Format: date-time */
                                until: string;
                                failures: number;
                            }[];
                        }[];
                        limits?: {
                            name: string;
                            concurrency?: number;
                            rate?: {
                                count?: number;
                                perMs?: number;
                            };
                            held: number;
                            wanted: number;
                        }[];
                        schedules: {
                            active: number;
                            inactive: number;
                            /** Format: date-time */
                            nextAt?: string;
                        };
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listOperations: {
        parameters: {
            query?: {
                action?: "token.created" | "token.rotated" | "token.revoked" | "registration.created" | "registration.changed" | "registration.removed" | "webhook.created" | "webhook.changed" | "webhook.removed" | "schedule.created" | "schedule.changed" | "schedule.removed" | "facet.created" | "facet.removed" | "secrets.resealed" | "settings.changed" | "runs.pruned" | "run.erased" | "erasure.completed";
                subject?: string;
                before?: number;
                limit?: number;
            };
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the operations audit; pass next as before for the next page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        operations: {
                            seq: number;
                            /** Format: date-time */
                            at: string;
                            by: string;
                            /** @enum {unknown} */
                            action: "token.created" | "token.rotated" | "token.revoked" | "registration.created" | "registration.changed" | "registration.removed" | "webhook.created" | "webhook.changed" | "webhook.removed" | "schedule.created" | "schedule.changed" | "schedule.removed" | "facet.created" | "facet.removed" | "secrets.resealed" | "settings.changed" | "runs.pruned" | "run.erased" | "erasure.completed";
                            subject: string;
                            details: {
                                [key: string]: unknown;
                            };
                            prev: string;
                            hash: string;
                        }[];
                        next?: number;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    eraseRuns: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    runId?: string;
                    subject?: string;
                    reason?: string;
                    dryRun?: boolean;
                };
            };
        };
        responses: {
            /** @description The receipt, or with dryRun what would be erased */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        receiptId: string;
                        /** Format: date-time */
                        at: string;
                        by: string;
                        reason?: string;
                        scope: {
                            [key: string]: unknown;
                        };
                        runs: {
                            runId: string;
                            status: string;
                            events: number;
                            auditHead: string;
                        }[];
                        deleted: {
                            [key: string]: unknown;
                        };
                        sharedValues: number;
                        residue: string[];
                        hash: string;
                        audit: {
                            [key: string]: unknown;
                        };
                    } | {
                        /** @constant */
                        dryRun: true;
                        runs: {
                            runId: string;
                            status: string;
                            events: number;
                            auditHead: string;
                        }[];
                        unfinished: string[];
                        events: number;
                        values: number;
                        sharedValues: number;
                        answers: number;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    resealSecrets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many were encrypted again, had the newest key already, or cannot be decrypted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resealed: number;
                        current: number;
                        unreadable: string[];
                        runs: number;
                        runsUnderWay: number;
                        unknownKeys: {
                            keyId: string;
                            runs: number;
                            rows: number;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    livez: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Alive */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                    };
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                    };
                };
            };
            /** @description Not ready */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        status: "stopping" | "store";
                        /** @description Stable code, such as store/replaced */
                        code?: string;
                        reason?: string;
                        /** @description What to do about it */
                        hint?: string;
                    };
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showSignIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ways to sign in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        oidc?: {
                            url: string;
                            clientId: string;
                            scope: string;
                        };
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    code: string;
                    codeVerifier: string;
                    redirectUri: string;
                };
            };
        };
        responses: {
            /** @description The token, to be sent as a bearer token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        token: string;
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    showCaller: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The caller */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        /** @enum {unknown} */
                        role: "caller" | "agent" | "operator" | "admin";
                        tenant: string;
                        taskRoles: string[];
                        development: boolean;
                        features: {
                            sandbox: boolean;
                            createPost: boolean;
                        };
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        openapi: "3.1.0";
                    };
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    sandboxMetadata: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Facets, capabilities, prompt and templates */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        facets: {
                            [key: string]: unknown;
                        }[];
                        capabilities: {
                            active: {
                                [key: string]: unknown;
                            }[];
                            all: {
                                [key: string]: unknown;
                            }[];
                        };
                        prompts: {
                            system: string;
                            rules: string[];
                        };
                        templates: {
                            name: string;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    startSandboxConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": null | {
                    message?: string;
                    envelope?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description The conversation and its first reply */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        conversationId: string;
                        /** Format: date-time */
                        expiresAt: string;
                        messagesLeft: number;
                        envelope: {
                            [key: string]: unknown;
                        };
                        reply: string;
                        patches: {
                            [key: string]: unknown;
                        }[];
                        summary?: string;
                        missingFields: string[];
                        warnings: string[];
                        valid: boolean;
                        issues: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    respondInSandboxConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Trace context of the caller (W3C Trace Context); the run and its calls continue this trace */
                traceparent?: components["parameters"]["traceparent"];
            };
            path: {
                conversationId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    message: string;
                    envelope?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description The reply, and the draft with its changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        conversationId: string;
                        /** Format: date-time */
                        expiresAt: string;
                        messagesLeft: number;
                        envelope: {
                            [key: string]: unknown;
                        };
                        reply: string;
                        patches: {
                            [key: string]: unknown;
                        }[];
                        summary?: string;
                        missingFields: string[];
                        warnings: string[];
                        valid: boolean;
                        issues: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
            /** @description Cannot read the request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Missing or invalid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden for the role of the token */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Conflicts with the current status of the run */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body does not match the schema, or an Idempotency-Key was used with another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests or active runs; retry after the seconds in Retry-After */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error; the server log has the cause under the traceId */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
}
