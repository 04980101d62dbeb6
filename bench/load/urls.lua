-- Sends the paths of a file, one after the other, and prints one line of JSON at the end.
--
-- wrk ... -s urls.lua http://host:port -- FILE SKIP CYCLE STATUSES CONNECTIONS
--   SKIP         lines to leave out, because an earlier run has sent them
--   CYCLE        1: begin again at the end of the file
--   STATUSES     1: count the answers by status, which costs wrk a table for each answer
--   CONNECTIONS  how many there are, to know when all of them have been answered
--
-- Without CYCLE wrk ends with the last answer to the file, so that the duration stays the true one.

local ffi = require('ffi')
ffi.cdef('int getpid(void); int kill(int pid, int signal);')
local SIGINT = 2

local threads = {}
function setup(thread)
  table.insert(threads, thread)
end

taken, idle, exhausted, connections = 0, 0, 0, 0
answered = ''

local file, lines, suffix, checked
local cycle = false
local counts = {}

function init(arguments)
  file = arguments[1]
  cycle = arguments[3] == '1'
  connections = tonumber(arguments[5])
  suffix = ' HTTP/1.1\r\nHost: ' .. wrk.host .. '\r\n\r\n'
  lines = io.lines(file)
  for _ = 1, tonumber(arguments[2]) do
    lines()
  end
  if arguments[4] == '1' then
    response = count
  end
end

function count(status)
  counts[status] = (counts[status] or 0) + 1
  answered = ''
  for code, number in pairs(counts) do
    answered = answered .. (answered == '' and '' or ',') .. '"' .. code .. '":' .. number
  end
end

local function next_line()
  local line = lines and lines()
  if line == nil and cycle then
    lines = io.lines(file)
    return lines()
  end
  -- A file that was read to its end is closed: asking it once more would be an error.
  if line == nil then
    lines = nil
  end
  return line
end

function request()
  if checked == nil then
    -- The first call is wrk's own, to look at the request: it is not sent, so the same line comes again.
    checked = 'GET ' .. (next_line() or '/') .. suffix
    return checked
  end
  if checked ~= '' then
    local first = checked
    checked = ''
    taken = taken + 1
    return first
  end
  local line = next_line()
  if line ~= nil then
    taken = taken + 1
    return 'GET ' .. line .. suffix
  end
  -- A connection that sends nothing more stays silent; when all are silent, every line has been answered.
  exhausted = 1
  idle = idle + 1
  if idle == connections then
    ffi.C.kill(ffi.C.getpid(), SIGINT)
  end
  return ''
end

function done(summary, latency)
  local errors = summary.errors
  local at = function(percentile)
    return math.floor(latency:percentile(percentile))
  end
  -- As if the slowest answer of every connection had not been there.
  local rest = math.max(0, summary.requests - threads[1]:get('connections'))
  local at_rest = summary.requests == 0 and 0 or 99 * rest / summary.requests
  print(string.format(
    '{"requests":%d,"microseconds":%d,"taken":%d,"exhausted":%s,"statuses":{%s},'
      .. '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},'
      .. '"latency":{"p50":%d,"p90":%d,"p99":%d,"p99Rest":%d,"max":%d}}',
    summary.requests, summary.duration, threads[1]:get('taken'),
    threads[1]:get('exhausted') == 1 and 'true' or 'false', threads[1]:get('answered'),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout,
    at(50), at(90), at(99), at(at_rest), latency.max
  ))
end
