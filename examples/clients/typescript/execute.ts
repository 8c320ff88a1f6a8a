// Runs a flow and waits for its result.
//   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… npx node examples/clients/typescript/execute.ts 'rivers, dams'
import { call, type Execution } from './weir.ts';

const message = process.argv[2] ?? 'rivers, dams';
const run = await call<Execution>('POST', 'demo/demo/hello/execute', { message });

// A failed run is answered with 200 too: the request was valid, but a block failed.
if (run.status === 'completed') console.log(JSON.stringify(run.result, null, 2));
else if (run.status === 'failed') throw new Error(run.errorMessage);
