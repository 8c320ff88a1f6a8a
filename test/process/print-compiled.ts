// A program that may be asked to start anew once it is compiled; it prints what it is then.
import { restartCompiled } from '../../process/restart-compiled.ts';

restartCompiled();
const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
console.log(
  JSON.stringify({
    pid: process.pid,
    hasCompiler: moduleLoadList.some((name) => name.includes('amaro')),
    arguments: [...process.execArgv, ...process.argv.slice(2)],
    environment: Object.keys(process.env),
  }),
);
