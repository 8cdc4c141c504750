-- Attaches watts to every job of the managed partitions, as licences; in decide mode, and where jobs
-- share nodes, it also holds them for the controller and marks them as its own. Beside slurm.conf;
-- edits need no restart.

local mode = "guard" -- "guard": Slurm starts jobs; "decide": the controller does
local shared = false -- true: jobs share nodes, and the controller attaches what their parts draw
local managed = { batch = true }
local node_active_w = 300
local cores_per_node = 32
local mark = "wattline" -- how the comment of a job begins that is the controller's
local trusted = { [0] = true } -- user numbers that may release and change jobs: root, the controller

local LICENCE = "watts"
local PENDING = 0 -- as slurm.h counts the states of jobs
local waits_for_controller = mode == "decide" or shared

local function set(value)
  return value ~= nil and value ~= slurm.NO_VAL16 and value ~= slurm.NO_VAL and value ~= slurm.NO_VAL64
end

local function partition_of(job, partitions)
  if job.partition ~= nil and job.partition ~= "" then
    return job.partition
  end
  for name, partition in pairs(partitions) do
    if partition.flag_default ~= 0 then
      return name
    end
  end
  return nil
end

-- Whether any of a job's partitions is managed, and whether all are: it may start in each of them.
local function is_managed(names)
  local all, any = true, false
  for name in string.gmatch(names or "", "[^,]+") do
    if managed[name] then
      any = true
    else
      all = false
    end
  end
  return any, all
end

local function nodes_of(job)
  local nodes = set(job.min_nodes) and job.min_nodes or 1
  if set(job.max_nodes) and job.max_nodes > nodes then
    nodes = job.max_nodes -- it may get as many
  end
  if set(job.num_tasks) and set(job.ntasks_per_node) and job.ntasks_per_node > 0 then
    nodes = math.max(nodes, math.ceil(job.num_tasks / job.ntasks_per_node))
  end
  local cores = set(job.min_cpus) and job.min_cpus or 1
  return math.max(nodes, math.ceil(cores / cores_per_node), 1)
end

-- Licences of other names, and those called watts that say how many.
local function parted(licences)
  local others, watts = {}, {}
  for each in string.gmatch(licences or "", "[^,;]+") do
    if string.find(each, "^" .. LICENCE .. ":0*[1-9]%d*$") then
      watts[#watts + 1] = each
    elseif each ~= LICENCE and not string.find(each, "^" .. LICENCE .. ":0*$") then
      others[#others + 1] = each
    end
  end
  return others, watts
end

-- All that its nodes draw while it runs; a job that knows better says so with -L watts:N. It gets no
-- more nodes than were counted: where only cores are asked for, Slurm could spread them further.
local function add_watts(job, asked, licences, anew)
  local nodes = nodes_of(asked)
  local all, watts = parted(licences)
  if anew or #watts == 0 then
    watts = { string.format("%s:%d", LICENCE, math.ceil(nodes * node_active_w)) }
  end
  for _, each in ipairs(watts) do
    all[#all + 1] = each
  end
  job.licenses = table.concat(all, ",")
  job.max_nodes = nodes
end

local function is_marked(comment)
  return comment ~= nil and string.sub(comment, 1, #mark) == mark
end

local function add_mark(job, comment)
  if not is_marked(comment) then
    job.comment = (comment ~= nil and comment ~= "") and mark .. " " .. comment or mark
  end
end

-- Where a job may start: under the cap (true) or elsewhere (false); nil where it is refused.
local function under_cap(names)
  local any, all = is_managed(names)
  if any and not all then
    slurm.log_user("name either partitions under the power cap, or others: not both")
    return nil
  end
  return any
end

-- One licence or another: Slurm would take the other for watts.
local function has_choice(licences)
  local found = string.find(licences or "", "|", 1, true) ~= nil
  if found then
    slurm.log_user("licences with | leave open whether a job holds its watts: join them by commas")
  end
  return found
end

local function wait_for_controller(job, comment)
  job.priority = 0
  add_mark(job, comment)
end

function slurm_job_submit(job, partitions, uid)
  local managed_now = under_cap(partition_of(job, partitions))
  if not managed_now then
    return managed_now == nil and slurm.ERROR or slurm.SUCCESS
  end
  if has_choice(job.licenses) then
    return slurm.ERROR
  end
  if not shared then
    add_watts(job, job, job.licenses, false)
  end
  if waits_for_controller and not (set(job.priority) and job.priority == 0) then
    wait_for_controller(job, job.comment) -- what its user holds stays the user's
  end
  return slurm.SUCCESS
end

-- The size that a job has after a change; only waiting jobs can grow.
local function changed_size(job, record)
  local after, differs = {}, false
  for _, name in ipairs({ "min_nodes", "max_nodes", "min_cpus" }) do
    after[name] = set(job[name]) and job[name] or record[name]
    differs = differs or after[name] ~= record[name]
  end
  return after, differs and record.job_state == PENDING
end

function slurm_job_modify(job, record, partitions, uid)
  local was = is_managed(record.partition)
  local moves = job.partition ~= nil and job.partition ~= ""
  local is = was
  if moves then
    is = under_cap(job.partition)
  end
  if is == nil then
    return slurm.ERROR
  end
  local enters, by_user = is and not was, not trusted[uid]
  if not (enters or is and by_user) then
    return slurm.SUCCESS
  end
  if has_choice(job.licenses or record.licenses) then
    return slurm.ERROR
  end
  if not enters and job.licenses ~= nil and job.licenses ~= record.licenses then
    slurm.log_user("watts of a job are changed by operators")
    return slurm.ERROR
  end
  local size, resized = changed_size(job, record)
  if not shared and (enters or resized) then
    add_watts(job, size, job.licenses or record.licenses, not enters)
  end
  local released = set(job.priority) and job.priority ~= 0
  if waits_for_controller and by_user and (released or enters and record.priority ~= 0) then
    wait_for_controller(job, job.comment or record.comment) -- from now on it waits for the controller
  end
  return slurm.SUCCESS
end

slurm.log_info("watts are attached to jobs, in %s mode", mode)
return slurm.SUCCESS
